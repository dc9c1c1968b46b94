-- SPDX-License-Identifier: MIT
--
-- What `fairmill import pbs` makes of OpenPBS's files, in an accounting database of their own; the words
-- in braces are those of tables.sql.  This paragraph is left out.

sqlite: -- Runs do not wait for an import.
sqlite: PRAGMA journal_mode = WAL;
sqlite:
-- How far each accounting log was read: so many bytes of it, unpacked, and their hash.
CREATE TABLE IF NOT EXISTS "pbs_file" (
    "cluster"  {name} NOT NULL,
    "name"     {name} NOT NULL,
    "bytes"    {integer} NOT NULL,
    "rows"     {integer} NOT NULL,
    "digest"   {word} NOT NULL,
    "stored"   {word} NOT NULL,
    PRIMARY KEY ("cluster", "name")
) {kept};

-- Lines of accounting logs that could not be read; each import tries them again.
CREATE TABLE IF NOT EXISTS "pbs_refused" (
    "cluster"  {name} NOT NULL,
    "name"     {name} NOT NULL,
    "row"      {integer} NOT NULL,
    "text"     {long_text} NOT NULL,
    PRIMARY KEY ("cluster", "name", "row")
) {kept};

-- The lines of resource_group, each from when to when (0: it still does) it held; place is its order.
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

-- The number of each name, which it keeps for ever.
CREATE TABLE IF NOT EXISTS "pbs_entity" (
    "cluster"     {name} NOT NULL,
    "name"        {name} NOT NULL,
    "id_assoc"    {integer} NOT NULL,
    "first_seen"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "name")
) {kept};

-- For whom jobs were: the names that they had of each kind that OpenPBS's fairshare_entity may be, and,
-- of kind `usage', those of the scheduler's usage file.
CREATE TABLE IF NOT EXISTS "pbs_seen" (
    "cluster"     {name} NOT NULL,
    "kind"        {word} NOT NULL,
    "name"        {name} NOT NULL,
    "first_seen"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "kind", "name")
) {kept};

-- What sched_config and the server said of fairshare, since when; NULL: it said nothing any more.
CREATE TABLE IF NOT EXISTS "pbs_setting" (
    "cluster"  {name} NOT NULL,
    "name"     {name} NOT NULL,
    "since"    {integer} NOT NULL,
    "value"    {text},
    PRIMARY KEY ("cluster", "name", "since")
) {kept};

-- What the scheduler's usage file said of an entity's usage when it was written, and of the last decay
-- (0 or NULL: nothing): a start.
CREATE TABLE IF NOT EXISTS "pbs_usage" (
    "cluster"     {name} NOT NULL,
    "name"        {name} NOT NULL,
    "as_of"       {integer} NOT NULL,
    "usage"       {real} NOT NULL,
    "last_decay"  {integer},
    PRIMARY KEY ("cluster", "name", "as_of")
) {kept};

-- Every run of a job: state is running, restarted (from a checkpoint), ended, rerun or aborted, time_end 0
-- while it runs.  Resources are
-- `name=value name=value`, as in the logs.
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

-- When a run was suspended; time_end is 0 while it is.
CREATE TABLE IF NOT EXISTS "pbs_suspension" (
    "cluster"     {name} NOT NULL,
    "job_key"     {integer} NOT NULL,
    "time_start"  {integer} NOT NULL,
    "time_end"    {integer} NOT NULL,
    PRIMARY KEY ("cluster", "job_key", "time_start")
) {kept};

-- The jobs that waited when qstat or the server's database was last read.
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

-- Queues, and their priorities.
CREATE TABLE IF NOT EXISTS "pbs_queue" (
    "cluster"   {name} NOT NULL,
    "name"      {name} NOT NULL,
    "priority"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "name")
) {kept};
