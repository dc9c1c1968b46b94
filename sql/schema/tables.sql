-- SPDX-License-Identifier: MIT
--
-- The result tables.  {name} and other words stand for those of a dialect in dialects.txt; a line that
-- begins with "sqlite:" is for that dialect only.  `fairmill init` adds the columns that the tables of an
-- older release lack, so that a new one allows NULL or has a default.  This paragraph is left out.

sqlite: -- Readers and the writer do not wait for each other.
sqlite: PRAGMA journal_mode = WAL;
sqlite:
-- Which upgrade of these tables this is; the highest version counts.
CREATE TABLE IF NOT EXISTS "fairmill_schema" (
    "version"  {integer} NOT NULL,
    "made_at"  {integer} NOT NULL,
    PRIMARY KEY ("version")
) {kept};

-- The fence: the run that published last, a row for each cluster.  The row of '' counts runs.
CREATE TABLE IF NOT EXISTS "fairmill_lock" (
    "cluster"  {name} NOT NULL,
    "run_id"   {integer} NOT NULL,
    "source"   {text} NOT NULL,
    PRIMARY KEY ("cluster")
) {kept};

-- The settings that runs had.
CREATE TABLE IF NOT EXISTS "fairmill_settings" (
    "digest"  {word} NOT NULL,
    "text"    {text} NOT NULL,
    PRIMARY KEY ("digest")
) {kept};

-- Every run, also those that failed.
CREATE TABLE IF NOT EXISTS "fairmill_run" (
    "cluster"               {name} NOT NULL,
    "run_id"                {integer} NOT NULL,
    "as_of"                 {integer} NOT NULL,
    "started_at"            {integer} NOT NULL,
    "duration_ms"           {integer} NOT NULL,
    "kind"                  {word} NOT NULL,
    "why"                   {line},
    "status"                {word} NOT NULL,
    "algorithm"             {word} NOT NULL,
    "conformance"           {word} NOT NULL,
    "slurm_version"         {word},
    "usage_unit"            {text},
    "half_life"             {integer} NOT NULL,
    "time_zone"             {line},
    "associations"          {integer},
    "users"                 {integer},
    "jobs_read"             {integer},
    "unattributed_usage"    {real},
    "truncation_bound"      {real},
    "source_newest"         {integer},
    "source_lag"            {integer},
    "drift_max"             {real},
    "drifted_associations"  {integer},
    "settings_digest"       {word} NOT NULL,
    "version"               {word} NOT NULL,
    "host"                  {line},
    "os_user"               {line},
    "message"               {text} NOT NULL,
    PRIMARY KEY ("cluster", "run_id")
) {kept};

-- What was wrong or doubtful in the input and did not stop a run.
CREATE TABLE IF NOT EXISTS "fairmill_finding" (
    "cluster"     {name} NOT NULL,
    "kind"        {word} NOT NULL,
    "subject"     {word} NOT NULL,
    "first_seen"  {integer} NOT NULL,
    "last_seen"   {integer} NOT NULL,
    "count"       {integer} NOT NULL,
    "detail"      {line},
    PRIMARY KEY ("cluster", "kind", "subject")
) {replaced};

-- The living associations: what of fairmill_fairshare changes with shares, parents and names only.  Where
-- `pbs_own` is 0, the PBS values are those of the classic algorithm, and not written twice.
CREATE TABLE IF NOT EXISTS "fairmill_tree" (
    "cluster"            {name} NOT NULL,
    "id_assoc"           {integer} NOT NULL,
    "parent_id"          {integer},
    "depth"              {integer} NOT NULL,
    "account"            {name} NOT NULL,
    "user_name"          {name} NOT NULL,
    "partition_name"     {name} NOT NULL,
    "shares"             {integer},
    "shares_norm"        {real},
    "level_shares_norm"  {real},
    "tie_order"          {integer},
    "grp_tres_mins"      {text},
    "pbs_own"            {integer} NOT NULL,
    "usage_is_set"       {integer},
    PRIMARY KEY ("cluster", "id_assoc")
) {kept};

-- And what changes with every run.  What the view fairmill_fairshare makes of other columns is NULL here.
CREATE TABLE IF NOT EXISTS "fairmill_value" (
    "cluster"                 {name} NOT NULL,
    "id_assoc"                {integer} NOT NULL,
    "usage_raw"               {real},
    "usage_norm"              {real},
    "capacity_usage"          {real},
    "level_usage"             {real},
    "classic_usage"           {real},
    "classic_factor"          {real},
    "linear_usage"            {real},
    "linear_factor"           {real},
    "depth_oblivious_ratio"   {real},
    "depth_oblivious_factor"  {real},
    "depth_oblivious_usage"   {real},
    "level_fs"                {real},
    "fair_tree_rank"          {integer},
    "pbs_tree_usage"          {real},
    "pbs_factor"              {real},
    "fairshare_order"         {integer},
    "pbs_order"               {integer},
    "tres_run_mins"           {text},
    PRIMARY KEY ("cluster", "id_assoc")
) {updated};

-- Who may see what others have, where that is private: a row for each account, `account` '' for all.
CREATE TABLE IF NOT EXISTS "fairmill_privilege" (
    "cluster"    {name} NOT NULL,
    "user_name"  {name} NOT NULL,
    "account"    {name} NOT NULL,
    "privilege"  {word} NOT NULL,
    PRIMARY KEY ("cluster", "user_name", "account")
) {replaced};

-- The priority of every job that waits, a row for each partition and QOS it may take.
CREATE TABLE IF NOT EXISTS "fairmill_job_priority" (
    "cluster"             {name} NOT NULL,
    "job_db_inx"          {key} NOT NULL,
    "partition_name"      {name} NOT NULL,
    "qos"                 {name} NOT NULL,
    "id_job"              {integer} NOT NULL,
    "user_name"           {name} NOT NULL,
    "account"             {name} NOT NULL,
    "best"                {integer} NOT NULL,
    "age_factor"          {real},
    "fairshare_factor"    {real},
    "job_size_factor"     {real},
    "partition_factor"    {real},
    "qos_factor"          {real},
    "assoc_factor"        {real},
    "age_weighted"        {real},
    "fairshare_weighted"  {real},
    "job_size_weighted"   {real},
    "partition_weighted"  {real},
    "qos_weighted"        {real},
    "assoc_weighted"      {real},
    "tres_factors"        {text},
    "tres_weighted"       {text},
    "site"                {integer},
    "nice"                {integer},
    "priority"            {integer},
    "priority_norm"       {real},
    "run_id"              {integer} NOT NULL,
    "computed_at"         {integer} NOT NULL,
    "job_id"              {name},
    "formula_value"       {real},
    "why"                 {line},
    PRIMARY KEY ("cluster", "job_db_inx", "partition_name", "qos")
) {replaced};

mysql: -- Once all of these had values.
mysql: ALTER TABLE "fairmill_job_priority"
mysql:     MODIFY COLUMN "age_factor" {real},
mysql:     MODIFY COLUMN "fairshare_factor" {real},
mysql:     MODIFY COLUMN "job_size_factor" {real},
mysql:     MODIFY COLUMN "partition_factor" {real},
mysql:     MODIFY COLUMN "qos_factor" {real},
mysql:     MODIFY COLUMN "assoc_factor" {real},
mysql:     MODIFY COLUMN "age_weighted" {real},
mysql:     MODIFY COLUMN "fairshare_weighted" {real},
mysql:     MODIFY COLUMN "job_size_weighted" {real},
mysql:     MODIFY COLUMN "partition_weighted" {real},
mysql:     MODIFY COLUMN "qos_weighted" {real},
mysql:     MODIFY COLUMN "assoc_weighted" {real},
mysql:     MODIFY COLUMN "tres_factors" {text},
mysql:     MODIFY COLUMN "tres_weighted" {text},
mysql:     MODIFY COLUMN "priority" {integer},
mysql:     MODIFY COLUMN "priority_norm" {real};
pgsql: -- Once all of these had values.
pgsql: ALTER TABLE "fairmill_job_priority"
pgsql:     ALTER COLUMN "age_factor" DROP NOT NULL,
pgsql:     ALTER COLUMN "fairshare_factor" DROP NOT NULL,
pgsql:     ALTER COLUMN "job_size_factor" DROP NOT NULL,
pgsql:     ALTER COLUMN "partition_factor" DROP NOT NULL,
pgsql:     ALTER COLUMN "qos_factor" DROP NOT NULL,
pgsql:     ALTER COLUMN "assoc_factor" DROP NOT NULL,
pgsql:     ALTER COLUMN "age_weighted" DROP NOT NULL,
pgsql:     ALTER COLUMN "fairshare_weighted" DROP NOT NULL,
pgsql:     ALTER COLUMN "job_size_weighted" DROP NOT NULL,
pgsql:     ALTER COLUMN "partition_weighted" DROP NOT NULL,
pgsql:     ALTER COLUMN "qos_weighted" DROP NOT NULL,
pgsql:     ALTER COLUMN "assoc_weighted" DROP NOT NULL,
pgsql:     ALTER COLUMN "tres_factors" DROP NOT NULL,
pgsql:     ALTER COLUMN "tres_weighted" DROP NOT NULL,
pgsql:     ALTER COLUMN "priority" DROP NOT NULL,
pgsql:     ALTER COLUMN "priority_norm" DROP NOT NULL;

-- What each name of the formula stood for that made a job's priority.
CREATE TABLE IF NOT EXISTS "fairmill_job_term" (
    "cluster"     {name} NOT NULL,
    "job_db_inx"  {key} NOT NULL,
    "name"        {name} NOT NULL,
    "value"       {real} NOT NULL,
    PRIMARY KEY ("cluster", "job_db_inx", "name")
) {replaced};

-- What the sums of fairmill_seal_usage are made of.  By it a run knows which jobs it need not read
-- again; it is not meant for other readers.
CREATE TABLE IF NOT EXISTS "fairmill_seal" (
    "cluster"       {name} NOT NULL,
    "as_of"         {integer} NOT NULL,
    "full_as_of"    {integer} NOT NULL,
    "cutoff"        {integer} NOT NULL,
    "sealed_to"     {integer} NOT NULL,
    "counts_from"   {integer} NOT NULL,
    "jobs_from"     {integer} NOT NULL,
    "oldest_end"    {integer} NOT NULL,
    "first_charge"  {integer} NOT NULL,
    "newest_end"    {integer} NOT NULL,
    "sums_hash"     {integer} NOT NULL,
    "open_hash"     {integer} NOT NULL,
    "source"        {text} NOT NULL,
    "basis"         {text} NOT NULL,
    "hash"          {integer} NOT NULL,
    "checked_to"    {integer},
    PRIMARY KEY ("cluster")
) {replaced};

-- Usage of jobs that ended before the seal, by association: integers of 256 bits in four
-- words, the highest first.
CREATE TABLE IF NOT EXISTS "fairmill_seal_usage" (
    "cluster"   {name} NOT NULL,
    "id_assoc"  {integer} NOT NULL,
    "sum_3"     {integer} NOT NULL,
    "sum_2"     {integer} NOT NULL,
    "sum_1"     {integer} NOT NULL,
    "sum_0"     {integer} NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) {updated};

-- Job rows that had not ended when the seal was made.
CREATE TABLE IF NOT EXISTS "fairmill_seal_open" (
    "cluster"  {name} NOT NULL,
    "job_key"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "job_key")
) {replaced};

-- Findings about jobs that ended before the seal.  One about several jobs has their number, and when the
-- first and the last of them started.
CREATE TABLE IF NOT EXISTS "fairmill_seal_odd" (
    "cluster"     {name} NOT NULL,
    "kind"        {word} NOT NULL,
    "subject"     {integer} NOT NULL,
    "time_end"    {integer} NOT NULL,
    "detail"      {line} NOT NULL,
    "jobs"        {integer},
    "first_start" {integer},
    "last_start"  {integer},
    PRIMARY KEY ("cluster", "kind", "subject", "time_end")
) {replaced};

-- Per-day row hashes of the job rows in the sums, by the day (UTC) in which they ended: their number and
-- a hash.  Day -1 has those of the rollups that replace purged jobs.
CREATE TABLE IF NOT EXISTS "fairmill_seal_slice" (
    "cluster"    {name} NOT NULL,
    "day"        {integer} NOT NULL,
    "row_count"  {integer} NOT NULL,
    "hash"       {integer} NOT NULL,
    PRIMARY KEY ("cluster", "day")
) {replaced};

-- The ledger: corrections of usage that people entered, each with who and why.  Rows are only ever
-- added; `undoes` names one that does not count because of this one.
CREATE TABLE IF NOT EXISTS "fairmill_ledger" (
    "id"              {integer} NOT NULL,
    "cluster"         {name} NOT NULL,
    "instant"         {integer} NOT NULL,
    "entered_at"      {integer} NOT NULL,
    "who"             {name} NOT NULL,
    "why"             {line} NOT NULL,
    "kind"            {word} NOT NULL,
    "account"         {name} NOT NULL,
    "user_name"       {name} NOT NULL,
    "partition_name"  {name} NOT NULL,
    "id_assoc"        {integer},
    "tres_seconds"    {integer},
    "id_job"          {integer},
    "undoes"          {integer},
    PRIMARY KEY ("id"),
    UNIQUE ("undoes")
) {kept};

-- The associations that a reset of a user or an account in the ledger covers.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_reset" (
    "id"        {integer} NOT NULL,
    "id_assoc"  {integer} NOT NULL,
    PRIMARY KEY ("id", "id_assoc")
) {kept};

-- The hash of each entry of the ledger as it was made, and of that with all before it, by which one
-- that is lost or changed is found.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_chain" (
    "id"       {integer} NOT NULL,
    "cluster"  {name} NOT NULL,
    "hash"     {word} NOT NULL,
    "chain"    {word} NOT NULL,
    PRIMARY KEY ("id")
) {kept};

-- The entries that runs of a cluster have counted, with their hash: also of entries that 0.1.0 made.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_counted" (
    "cluster"  {name} NOT NULL,
    "id"       {integer} NOT NULL,
    "hash"     {word} NOT NULL,
    PRIMARY KEY ("cluster", "id")
) {kept};

pgsql: -- Whoever runs `fairmill run` may add to the ledger only, whatever default privileges say.
pgsql: DO $$ BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_writer') THEN REVOKE UPDATE, DELETE ON "fairmill_ledger", "fairmill_ledger_reset", "fairmill_ledger_chain", "fairmill_ledger_counted" FROM "fairmill_writer"; END IF; END $$;
pgsql:
-- What the accounting database told of associations over time, before the first run and between two
-- that were far apart.  What runs saw is in fairmill_share_change.
CREATE TABLE IF NOT EXISTS "fairmill_share_past" (
    "cluster"         {name} NOT NULL,
    "id_assoc"        {integer} NOT NULL,
    "since"           {integer} NOT NULL,
    "deleted"         {integer} NOT NULL,
    "parent_id"       {integer},
    "account"         {name} NOT NULL,
    "user_name"       {name} NOT NULL,
    "partition_name"  {name} NOT NULL,
    "shares"          {integer},
    PRIMARY KEY ("cluster", "id_assoc", "since")
) {kept};

-- Every association as the first run saw it, and from then on as it was whenever a run saw that it
-- had changed or had been touched: `modified` is when, by the source.  `seen_before` is the run before,
-- which saw it as its older row has it.
CREATE TABLE IF NOT EXISTS "fairmill_share_change" (
    "cluster"         {name} NOT NULL,
    "id_assoc"        {integer} NOT NULL,
    "as_of"           {integer} NOT NULL,
    "deleted"         {integer} NOT NULL,
    "run_id"          {integer} NOT NULL,
    "parent_id"       {integer},
    "parent_account"  {name} NOT NULL,
    "account"         {name} NOT NULL,
    "user_name"       {name} NOT NULL,
    "partition_name"  {name} NOT NULL,
    "shares"          {integer},
    "modified"        {integer},
    "seen_before"     {integer},
    PRIMARY KEY ("cluster", "id_assoc", "as_of")
) {kept};

-- The usage factors of QOS, and since when each holds: `told` is `added` or `changed` where txn_table
-- says so, and `seen` if it does not and a run saw the factor first.  `seen_before` is then the last
-- time at which it was different, or `as_of` if txn_table contradicts the factor and counts.
CREATE TABLE IF NOT EXISTS "fairmill_qos_change" (
    "cluster"       {name} NOT NULL,
    "id_qos"        {integer} NOT NULL,
    "as_of"         {integer} NOT NULL,
    "told"          {name} NOT NULL,
    "seen_before"   {integer},
    "run_id"        {integer} NOT NULL,
    "name"          {name} NOT NULL,
    "usage_factor"  {real} NOT NULL,
    PRIMARY KEY ("cluster", "id_qos", "as_of")
) {kept};

-- A hash of the associations of the last run, by which the next knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_share_state" (
    "cluster"     {name} NOT NULL,
    "last_as_of"  {integer} NOT NULL,
    "hash"        {integer} NOT NULL,
    PRIMARY KEY ("cluster")
) {replaced};

-- The instants of fairmill_history: the first run of each history_interval.  `associations` is a hash of
-- their names and parents, by which the next point knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_history_point" (
    "cluster"       {name} NOT NULL,
    "as_of"         {integer} NOT NULL,
    "algorithm"     {word} NOT NULL,
    "associations"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) {kept};

-- Those of them that `backfill' made.  No value lacks a larger part than truncation_bound for want of jobs
-- that were purged, or nobody knows; of in_doubt associations nobody knows what they were then.
CREATE TABLE IF NOT EXISTS "fairmill_backfill" (
    "cluster"           {name} NOT NULL,
    "as_of"             {integer} NOT NULL,
    "truncation_bound"  {real},
    "in_doubt"          {integer} NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) {kept};

-- The values that were published at these instants.
CREATE TABLE IF NOT EXISTS "fairmill_history" (
    "cluster"    {name} NOT NULL,
    "as_of"      {integer} NOT NULL,
    "id_assoc"   {integer} NOT NULL,
    "fairshare"  {real},
    "usage_raw"  {real},
    "level_fs"   {real},
    PRIMARY KEY ("cluster", "as_of", "id_assoc")
) {kept};

-- How fair use was as a whole at the instant of each run, over the accounts right below the root and over
-- users.
CREATE TABLE IF NOT EXISTS "fairmill_fairness" (
    "cluster"      {name} NOT NULL,
    "as_of"        {integer} NOT NULL,
    "scope"        {word} NOT NULL,
    "members"      {integer} NOT NULL,
    "jain"         {real},
    "use_over"     {real},
    "share_over"   {real},
    "use_under"    {real},
    "share_under"  {real},
    PRIMARY KEY ("cluster", "as_of", "scope")
) {kept};

-- What the associations of fairmill_history were called, and where they hung, from an instant on.
CREATE TABLE IF NOT EXISTS "fairmill_association" (
    "cluster"         {name} NOT NULL,
    "id_assoc"        {integer} NOT NULL,
    "since"           {integer} NOT NULL,
    "parent_id"       {integer},
    "account"         {name} NOT NULL,
    "user_name"       {name} NOT NULL,
    "partition_name"  {name} NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc", "since")
) {kept};

-- Undecayed usage by day and association: a rounded number for readers, and the exact integer in three
-- words, the highest first.
CREATE TABLE IF NOT EXISTS "fairmill_usage_day" (
    "cluster"       {name} NOT NULL,
    "day"           {integer} NOT NULL,
    "id_assoc"      {integer} NOT NULL,
    "tres_seconds"  {real} NOT NULL,
    "sum_2"         {integer} NOT NULL,
    "sum_1"         {integer} NOT NULL,
    "sum_0"         {integer} NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) {kept};

-- The part of these sums that comes from jobs that had not ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_usage_open" (
    "cluster"   {name} NOT NULL,
    "day"       {integer} NOT NULL,
    "id_assoc"  {integer} NOT NULL,
    "sum_2"     {integer} NOT NULL,
    "sum_1"     {integer} NOT NULL,
    "sum_0"     {integer} NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) {updated};

-- Until when these sums are complete, and which of them are final.
CREATE TABLE IF NOT EXISTS "fairmill_usage_span" (
    "cluster"     {name} NOT NULL,
    "as_of"       {integer} NOT NULL,
    "oldest_end"  {integer} NOT NULL,
    "final_to"    {integer} NOT NULL,
    PRIMARY KEY ("cluster")
) {replaced};

-- What is known of the rows that runs go on from: by table and part (a day, or 0 for all of the cluster) how
-- many there are, and a hash over them.
CREATE TABLE IF NOT EXISTS "fairmill_kept" (
    "cluster"     {name} NOT NULL,
    "table_name"  {word} NOT NULL,
    "part"        {integer} NOT NULL,
    "row_count"   {integer} NOT NULL,
    "hash"        {integer} NOT NULL,
    PRIMARY KEY ("cluster", "table_name", "part")
) {replaced};

-- What was in it is in fairmill_kept now.
DROP TABLE IF EXISTS "fairmill_usage_hash";
