-- SPDX-License-Identifier: MIT
--
-- The accounting database that `fairmill import pbs` creates from files of OpenPBS.  For the words
-- in braces, see tables.sql.  This paragraph is left out.

sqlite: -- WAL mode, so that runs do not wait for an import.
sqlite: PRAGMA journal_mode = WAL;
sqlite:
-- The part of each accounting log that was imported: the number of uncompressed bytes that were
-- read, and their hash.
CREATE TABLE IF NOT EXISTS "pbs_file" (
    "cluster"  {name} NOT NULL,
    "name"     {name} NOT NULL,
    "bytes"    {integer} NOT NULL,
    "rows"     {integer} NOT NULL,
    "digest"   {word} NOT NULL,
    "stored"   {word} NOT NULL,
    PRIMARY KEY ("cluster", "name")
) {kept};

-- Lines of accounting logs that could not be read.  Each import tries to read these lines again.
CREATE TABLE IF NOT EXISTS "pbs_refused" (
    "cluster"  {name} NOT NULL,
    "name"     {name} NOT NULL,
    "row"      {integer} NOT NULL,
    "text"     {long_text} NOT NULL,
    PRIMARY KEY ("cluster", "name", "row")
) {kept};

-- The lines of resource_group; the column place has their order.  Each line is valid from since to
-- until (epoch seconds); until is 0 for current lines.
CREATE TABLE IF NOT EXISTS "pbs_group" (
    "cluster"     {name} NOT NULL,
    "name"        {name} NOT NULL,
    "since"       {integer} NOT NULL,
    "until"       {integer} NOT NULL,
    "parent"      {name} NOT NULL,
    "cresgroup"   {integer} NOT NULL,
    "shares"      {integer} NOT NULL,
    "place"       {integer} NOT NULL,
    PRIMARY KEY ("cluster", "name", "since")
) {kept};

-- The id of each name, which never changes.
CREATE TABLE IF NOT EXISTS "pbs_entity" (
    "cluster"     {name} NOT NULL,
    "name"        {name} NOT NULL,
    "id_assoc"    {integer} NOT NULL,
    "first_seen"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "name")
) {kept};

-- The names of job owners, for each kind that fairshare_entity can select.  Names of kind usage are
-- from the usage file of the scheduler.
CREATE TABLE IF NOT EXISTS "pbs_seen" (
    "cluster"     {name} NOT NULL,
    "kind"        {word} NOT NULL,
    "name"        {name} NOT NULL,
    "first_seen"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "kind", "name")
) {kept};

-- The fairshare settings of sched_config and the server, valid from since (epoch seconds).  The
-- value is NULL if a setting was removed.
CREATE TABLE IF NOT EXISTS "pbs_setting" (
    "cluster"  {name} NOT NULL,
    "name"     {name} NOT NULL,
    "since"    {integer} NOT NULL,
    "value"    {text},
    PRIMARY KEY ("cluster", "name", "since")
) {kept};

-- The usage of entities in the usage file of the scheduler when it was written, as a start value.
-- The column last_decay is 0 or NULL if the time of the last decay is unknown.
CREATE TABLE IF NOT EXISTS "pbs_usage" (
    "cluster"     {name} NOT NULL,
    "name"        {name} NOT NULL,
    "as_of"       {integer} NOT NULL,
    "usage"       {real} NOT NULL,
    "last_decay"  {integer},
    PRIMARY KEY ("cluster", "name", "as_of")
) {kept};

-- Every execution of a job.  A job that is rerun has several executions.  The state is running,
-- restarted (from a checkpoint), ended, rerun or aborted.  Times are in epoch seconds; time_end is
-- 0 if the execution has not ended.  Resources have the form `name=value name=value`, as in the
-- logs.
CREATE TABLE IF NOT EXISTS "pbs_job" (
    "cluster"      {name} NOT NULL,
    "job_key"      {integer} NOT NULL,
    "job_id"       {name} NOT NULL,
    "state"        {word} NOT NULL,
    "euser"        {name} NOT NULL,
    "egroup"       {name} NOT NULL,
    "account"      {name} NOT NULL,
    "project"      {name} NOT NULL,
    "queue"        {name} NOT NULL,
    "ctime"        {integer} NOT NULL,
    "qtime"        {integer} NOT NULL,
    "etime"        {integer} NOT NULL,
    "time_start"   {integer} NOT NULL,
    "time_end"     {integer} NOT NULL,
    "exit_status"  {integer},
    "requested"    {text} NOT NULL,
    "used"         {text} NOT NULL,
mysql:     KEY "pbs_job_end" ("cluster", "time_end"),
mysql:     KEY "pbs_job_id" ("job_id", "time_start"),
    PRIMARY KEY ("cluster", "job_key")
) {kept};
pgsql: CREATE INDEX IF NOT EXISTS "pbs_job_end" ON "pbs_job" ("cluster", "time_end");
pgsql: CREATE INDEX IF NOT EXISTS "pbs_job_id" ON "pbs_job" ("job_id", "time_start");
sqlite: CREATE INDEX IF NOT EXISTS "pbs_job_end" ON "pbs_job" ("cluster", "time_end");
sqlite: CREATE INDEX IF NOT EXISTS "pbs_job_id" ON "pbs_job" ("job_id", "time_start");

-- The times at which a job execution was suspended, in epoch seconds; time_end is 0 if the
-- execution is still suspended.
CREATE TABLE IF NOT EXISTS "pbs_suspension" (
    "cluster"     {name} NOT NULL,
    "job_key"     {integer} NOT NULL,
    "time_start"  {integer} NOT NULL,
    "time_end"    {integer} NOT NULL,
    PRIMARY KEY ("cluster", "job_key", "time_start")
) {kept};

-- The jobs that were pending when the output of qstat or the database of the server was last read.
CREATE TABLE IF NOT EXISTS "pbs_queued" (
    "cluster"        {name} NOT NULL,
    "job_id"         {name} NOT NULL,
    "job_key"        {integer} NOT NULL,
    "as_of"          {integer} NOT NULL,
    "state"          {word} NOT NULL,
    "euser"          {name} NOT NULL,
    "egroup"         {name} NOT NULL,
    "account"        {name} NOT NULL,
    "project"        {name} NOT NULL,
    "queue"          {name} NOT NULL,
    "ctime"          {integer} NOT NULL,
    "qtime"          {integer} NOT NULL,
    "etime"          {integer} NOT NULL,
    "eligible_time"  {integer} NOT NULL,
    "job_priority"   {integer} NOT NULL,
    "requested"      {text} NOT NULL,
    PRIMARY KEY ("cluster", "job_id")
) {kept};

-- Queues and their priorities.
CREATE TABLE IF NOT EXISTS "pbs_queue" (
    "cluster"   {name} NOT NULL,
    "name"      {name} NOT NULL,
    "priority"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "name")
) {kept};
