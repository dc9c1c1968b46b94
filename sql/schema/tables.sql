-- SPDX-License-Identifier: MIT
--
-- The result tables. {name} and other words are replaced according to dialects.txt.  A line that
-- begins with "sqlite:" is for that dialect only.  `fairmill init` adds the columns that the tables
-- of an older release lack, so a new column must allow NULL or have a default.  This paragraph is
-- left out.

sqlite: -- WAL mode, so that queries and the run that writes do not block each other.
sqlite: PRAGMA journal_mode = WAL;
sqlite:
-- The versions of these tables; the highest one applies.
CREATE TABLE IF NOT EXISTS "fairmill_schema" (
    "version"  {integer} NOT NULL,
    "made_at"  {integer} NOT NULL,
    PRIMARY KEY ("version")
) {kept};

-- The run that published each cluster last, so that two runs cannot publish a cluster at once.  The
-- row with an empty cluster name has the highest run_id of all clusters.
CREATE TABLE IF NOT EXISTS "fairmill_lock" (
    "cluster"  {name} NOT NULL,
    "run_id"   {integer} NOT NULL,
    "source"   {text} NOT NULL,
    PRIMARY KEY ("cluster")
) {kept};

-- The settings of runs.  The key is a digest of the settings.
CREATE TABLE IF NOT EXISTS "fairmill_settings" (
    "digest"  {word} NOT NULL,
    "text"    {text} NOT NULL,
    PRIMARY KEY ("digest")
) {kept};

-- Every run, including failed runs.  Times are in epoch seconds, half_life and source_lag in
-- seconds, and unattributed_usage and drift_max in TRES-seconds.
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

-- Findings: input that was wrong or doubtful but did not stop a run.  Times are in epoch seconds.
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

-- The current associations: the columns of fairmill_fairshare that change only with shares, parents
-- and names.  If pbs_own is 0, the PBS values equal the values of the classic algorithm and are not
-- stored separately.
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

-- Indexes for questions about one name.
pgsql: CREATE INDEX IF NOT EXISTS "fairmill_tree_name" ON "fairmill_tree" ("cluster", "user_name", "account");
pgsql: CREATE INDEX IF NOT EXISTS "fairmill_tree_parent" ON "fairmill_tree" ("cluster", "parent_id");
sqlite: CREATE INDEX IF NOT EXISTS "fairmill_tree_name" ON "fairmill_tree" ("cluster", "user_name", "account");
sqlite: CREATE INDEX IF NOT EXISTS "fairmill_tree_parent" ON "fairmill_tree" ("cluster", "parent_id");
mysql: SET @fairmill_index = IF(
mysql:     EXISTS (SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'fairmill_tree' AND index_name = 'fairmill_tree_name'),
mysql:     'DO 0',
mysql:     'ALTER TABLE "fairmill_tree" ADD KEY "fairmill_tree_name" ("cluster", "user_name", "account"), ADD KEY "fairmill_tree_parent" ("cluster", "parent_id")');
mysql: PREPARE fairmill_index FROM @fairmill_index;
mysql: EXECUTE fairmill_index;
mysql: DEALLOCATE PREPARE fairmill_index;

-- The values of the associations, which every run computes.  A column is NULL if the view
-- fairmill_fairshare can compute it from other columns.  Usage is in TRES-seconds.  The columns
-- tres_N have the decayed usage of the TRES with that number in fairmill_tres_name, and running_N
-- the TRES-seconds that running jobs may still use; NULL means 0.
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
    "users_below"             {integer},
    "first_place"             {integer},
    "last_place"              {integer},
    "places_interleaved"      {integer},
    "tres_1"                  {real},
    "tres_2"                  {real},
    "tres_3"                  {real},
    "tres_4"                  {real},
    "tres_5"                  {real},
    "tres_6"                  {real},
    "tres_7"                  {real},
    "tres_8"                  {real},
    "tres_9"                  {real},
    "tres_10"                 {real},
    "tres_11"                 {real},
    "tres_12"                 {real},
    "tres_13"                 {real},
    "tres_14"                 {real},
    "tres_15"                 {real},
    "tres_16"                 {real},
    "running_1"               {integer},
    "running_2"               {integer},
    "running_3"               {integer},
    "running_4"               {integer},
    "running_5"               {integer},
    "running_6"               {integer},
    "running_7"               {integer},
    "running_8"               {integer},
    "running_9"               {integer},
    "running_10"              {integer},
    "running_11"              {integer},
    "running_12"              {integer},
    "running_13"              {integer},
    "running_14"              {integer},
    "running_15"              {integer},
    "running_16"              {integer},
    PRIMARY KEY ("cluster", "id_assoc")
) {updated};

-- The TRES whose usage is kept apart from the charge ([usage] tres).  The number selects the columns
-- tres_N and running_N of other tables.  A TRES keeps its number as long as the cluster exists.
CREATE TABLE IF NOT EXISTS "fairmill_tres_name" (
    "cluster"  {name} NOT NULL,
    "number"   {integer} NOT NULL,
    "tres"     {name} NOT NULL,
    PRIMARY KEY ("cluster", "number")
) {kept};

-- Every GrpTRESMins limit of an association or a QOS (kind), with its usage in TRES-minutes.  The id
-- is an id_assoc or the id of the QOS.  exhausted_at (epoch seconds) is when the usage reaches the
-- limit if the usage of the last seven days continues, or NULL.
CREATE TABLE IF NOT EXISTS "fairmill_budget" (
    "cluster"          {name} NOT NULL,
    "kind"             {word} NOT NULL,
    "id"               {integer} NOT NULL,
    "account"          {name} NOT NULL,
    "user_name"        {name} NOT NULL,
    "partition_name"   {name} NOT NULL,
    "qos"              {name} NOT NULL,
    "tres"             {name} NOT NULL,
    "limit_minutes"    {integer} NOT NULL,
    "used_minutes"     {integer} NOT NULL,
    "running_minutes"  {integer} NOT NULL,
    "left_minutes"     {integer} NOT NULL,
    "exhausted_at"     {integer},
    "run_id"           {integer} NOT NULL,
    "computed_at"      {integer} NOT NULL,
    PRIMARY KEY ("cluster", "kind", "id", "tres")
) {replaced};

-- Users who may see private values of other users.  Each row names an account whose users are
-- visible; an empty account means all accounts.
CREATE TABLE IF NOT EXISTS "fairmill_privilege" (
    "cluster"    {name} NOT NULL,
    "user_name"  {name} NOT NULL,
    "account"    {name} NOT NULL,
    "privilege"  {word} NOT NULL,
    PRIMARY KEY ("cluster", "user_name", "account")
) {replaced};

-- The messages that `fairmill notify` sent.  A row of a threshold is removed when the value is below
-- it again.  The subject is the month of a statement, or the TRES of a budget.  Only fairmill uses
-- this table.
CREATE TABLE IF NOT EXISTS "fairmill_notice" (
    "cluster"    {name} NOT NULL,
    "kind"       {word} NOT NULL,
    "id_assoc"   {integer} NOT NULL,
    "subject"    {name} NOT NULL,
    "recipient"  {word} NOT NULL,
    "sent_at"    {integer} NOT NULL,
    PRIMARY KEY ("cluster", "kind", "id_assoc", "subject", "recipient")
) {kept};

-- The priority of every pending job, one row for each partition and QOS that it may use.
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
    "priority_tier"       {integer},
    "pool"                {name},
    "place"               {integer},
    "reason"              {name},
    "reason_detail"       {text},
    "id_array_job"        {integer},
    "id_array_task"       {integer},
    "id_het_job"          {integer},
    "het_job_offset"      {integer},
    "cpus"                {integer},
    "gpus"                {integer},
    "limit_seconds"       {integer},
    "eligible_at"         {integer},
    PRIMARY KEY ("cluster", "job_db_inx", "partition_name", "qos")
) {replaced};

mysql: -- These columns were NOT NULL up to version 4.
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
pgsql: -- These columns were NOT NULL up to version 4.
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

-- The value of each name in the formula that determines the priority of a job.
CREATE TABLE IF NOT EXISTS "fairmill_job_term" (
    "cluster"     {name} NOT NULL,
    "job_db_inx"  {key} NOT NULL,
    "name"        {name} NOT NULL,
    "value"       {real} NOT NULL,
    PRIMARY KEY ("cluster", "job_db_inx", "name")
) {replaced};

-- The checkpoint.  A row describes the usage sums of a cluster in fairmill_seal_usage.  Jobs that
-- ended before sealed_to (epoch seconds) are in the sums, and runs do not read them again.  Only
-- fairmill uses this table.
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

-- The usage of each association by jobs in the checkpoint, weighted for decay: 256-bit integers in
-- four words, the highest first.  The column tres has the usage by TRES, as items number=hexadecimal
-- integer.
CREATE TABLE IF NOT EXISTS "fairmill_seal_usage" (
    "cluster"   {name} NOT NULL,
    "id_assoc"  {integer} NOT NULL,
    "sum_3"     {integer} NOT NULL,
    "sum_2"     {integer} NOT NULL,
    "sum_1"     {integer} NOT NULL,
    "sum_0"     {integer} NOT NULL,
    "tres"      {text},
    PRIMARY KEY ("cluster", "id_assoc")
) {updated};

-- Job rows that were open (had not ended) when the checkpoint was made.
CREATE TABLE IF NOT EXISTS "fairmill_seal_open" (
    "cluster"  {name} NOT NULL,
    "job_key"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "job_key")
) {replaced};

-- Findings about jobs in the checkpoint.  For a finding about several jobs, the row has the number
-- of jobs, and the start of the first and of the last job (epoch seconds).
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

-- The number and the hash of the job rows in the checkpoint, for each day (UTC) on which jobs
-- ended.  Day -1 is for the rollups that replace purged jobs.
CREATE TABLE IF NOT EXISTS "fairmill_seal_slice" (
    "cluster"    {name} NOT NULL,
    "day"        {integer} NOT NULL,
    "row_count"  {integer} NOT NULL,
    "hash"       {integer} NOT NULL,
    PRIMARY KEY ("cluster", "day")
) {replaced};

-- The ledger: corrections of usage, each with its author and reason.  Rows are only added.  If
-- undoes is set, the entry with that id has no effect on usage.  Times are in epoch seconds.
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

-- The associations to which a ledger entry applies: a reset of a user or an account, or a set
-- entry.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_reset" (
    "id"        {integer} NOT NULL,
    "id_assoc"  {integer} NOT NULL,
    PRIMARY KEY ("id", "id_assoc")
) {kept};

-- The hash of each ledger entry, and a hash over this entry and all earlier entries.  The hashes
-- reveal lost and changed entries.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_chain" (
    "id"       {integer} NOT NULL,
    "cluster"  {name} NOT NULL,
    "hash"     {word} NOT NULL,
    "chain"    {word} NOT NULL,
    PRIMARY KEY ("id")
) {kept};

-- The ledger entries that runs of a cluster have applied, with their hashes.  This includes entries
-- that release 0.1.0 made.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_counted" (
    "cluster"  {name} NOT NULL,
    "id"       {integer} NOT NULL,
    "hash"     {word} NOT NULL,
    PRIMARY KEY ("cluster", "id")
) {kept};

pgsql: -- The login of `fairmill run` may only add to the ledger, regardless of default privileges.
pgsql: DO $$ BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_writer') THEN REVOKE UPDATE, DELETE ON "fairmill_ledger", "fairmill_ledger_reset", "fairmill_ledger_chain", "fairmill_ledger_counted" FROM "fairmill_writer"; END IF; END $$;
pgsql:
-- The states of associations according to the accounting database, before the first run and between
-- runs that were far apart.  States observed by runs are in fairmill_share_change.
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

-- The state of every association at the first run, and its states that later runs observed after a
-- change.  The column modified is the time (epoch seconds) at which the association was last
-- modified in the accounting database.  The run at the time seen_before still observed the state in
-- the previous row.
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

-- The usage factors of QOS, and the times from which they apply.  The column told is added or
-- changed if txn_table has the change.  Otherwise told is seen, which means that a run observed the
-- factor, and seen_before is the last time at which the factor was different.  If seen_before
-- equals as_of, txn_table contradicts the factor and takes precedence.
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

-- A hash of the associations at the last run.  The next run compares it to detect changes.
CREATE TABLE IF NOT EXISTS "fairmill_share_state" (
    "cluster"     {name} NOT NULL,
    "last_as_of"  {integer} NOT NULL,
    "hash"        {integer} NOT NULL,
    PRIMARY KEY ("cluster")
) {replaced};

-- The times of history points: the first run in each history_interval.  The column associations is
-- a hash of names and parents; the run at the next point compares it to detect changes.
CREATE TABLE IF NOT EXISTS "fairmill_history_point" (
    "cluster"       {name} NOT NULL,
    "as_of"         {integer} NOT NULL,
    "algorithm"     {word} NOT NULL,
    "associations"  {integer} NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) {kept};

-- The history points that `fairmill backfill` computed.  Purged jobs could change a value by at
-- most the part truncation_bound, which is NULL if unknown.  The state of in_doubt associations was
-- uncertain.
CREATE TABLE IF NOT EXISTS "fairmill_backfill" (
    "cluster"           {name} NOT NULL,
    "as_of"             {integer} NOT NULL,
    "truncation_bound"  {real},
    "in_doubt"          {integer} NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) {kept};

-- The values at the history points.  Usage is in TRES-seconds.
CREATE TABLE IF NOT EXISTS "fairmill_history" (
    "cluster"    {name} NOT NULL,
    "as_of"      {integer} NOT NULL,
    "id_assoc"   {integer} NOT NULL,
    "fairshare"  {real},
    "usage_raw"  {real},
    "level_fs"   {real},
    PRIMARY KEY ("cluster", "as_of", "id_assoc")
) {kept};

-- The fairness of usage at the time of each run.  The scope accounts includes the accounts directly
-- below the root, and the scope users includes all users.
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

-- The names and parents of associations at history points; each row is valid from since (epoch
-- seconds) until the next row of the association.
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

-- An index for questions about the history of one name.
pgsql: CREATE INDEX IF NOT EXISTS "fairmill_association_name" ON "fairmill_association" ("cluster", "user_name", "account");
sqlite: CREATE INDEX IF NOT EXISTS "fairmill_association_name" ON "fairmill_association" ("cluster", "user_name", "account");
mysql: SET @fairmill_index = IF(
mysql:     EXISTS (SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'fairmill_association' AND index_name = 'fairmill_association_name'),
mysql:     'DO 0',
mysql:     'ALTER TABLE "fairmill_association" ADD KEY "fairmill_association_name" ("cluster", "user_name", "account")');
mysql: PREPARE fairmill_index FROM @fairmill_index;
mysql: EXECUTE fairmill_index;
mysql: DEALLOCATE PREPARE fairmill_index;

-- Undecayed daily usage of each association: rounded TRES-seconds for your queries, and the exact
-- integer in three words, the highest first.  The columns tres_1 to tres_16 have the TRES-seconds of
-- the TRES with that number in fairmill_tres_name; NULL means 0.  The view fairmill_tres_day shows
-- them by name.
CREATE TABLE IF NOT EXISTS "fairmill_usage_day" (
    "cluster"       {name} NOT NULL,
    "day"           {integer} NOT NULL,
    "id_assoc"      {integer} NOT NULL,
    "tres_seconds"  {real} NOT NULL,
    "sum_2"         {integer} NOT NULL,
    "sum_1"         {integer} NOT NULL,
    "sum_0"         {integer} NOT NULL,
    "tres_1"        {integer},
    "tres_2"        {integer},
    "tres_3"        {integer},
    "tres_4"        {integer},
    "tres_5"        {integer},
    "tres_6"        {integer},
    "tres_7"        {integer},
    "tres_8"        {integer},
    "tres_9"        {integer},
    "tres_10"       {integer},
    "tres_11"       {integer},
    "tres_12"       {integer},
    "tres_13"       {integer},
    "tres_14"       {integer},
    "tres_15"       {integer},
    "tres_16"       {integer},
    PRIMARY KEY ("cluster", "day", "id_assoc")
) {kept};

-- The part of fairmill_usage_day that is usage of jobs that are not in the checkpoint.
CREATE TABLE IF NOT EXISTS "fairmill_usage_open" (
    "cluster"   {name} NOT NULL,
    "day"       {integer} NOT NULL,
    "id_assoc"  {integer} NOT NULL,
    "sum_2"     {integer} NOT NULL,
    "sum_1"     {integer} NOT NULL,
    "sum_0"     {integer} NOT NULL,
    "tres_1"    {integer},
    "tres_2"    {integer},
    "tres_3"    {integer},
    "tres_4"    {integer},
    "tres_5"    {integer},
    "tres_6"    {integer},
    "tres_7"    {integer},
    "tres_8"    {integer},
    "tres_9"    {integer},
    "tres_10"   {integer},
    "tres_11"   {integer},
    "tres_12"   {integer},
    "tres_13"   {integer},
    "tres_14"   {integer},
    "tres_15"   {integer},
    "tres_16"   {integer},
    PRIMARY KEY ("cluster", "day", "id_assoc")
) {updated};

-- The number of jobs that started on each day, by the time for which they had waited.  bucket_s is
-- the upper bound of this time in seconds, and -1 means longer than the highest bound.  The table
-- fairmill_wait_final has the jobs that are in the checkpoint, and fairmill_wait_open all other
-- jobs.  The view fairmill_wait_day shows their sum.
CREATE TABLE IF NOT EXISTS "fairmill_wait_final" (
    "cluster"         {name} NOT NULL,
    "day"             {integer} NOT NULL,
    "id_assoc"        {integer} NOT NULL,
    "partition_name"  {name} NOT NULL,
    "qos"             {name} NOT NULL,
    "bucket_s"        {integer} NOT NULL,
    "jobs"            {integer} NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc", "partition_name", "qos" {key_part}, "bucket_s")
) {kept};

CREATE TABLE IF NOT EXISTS "fairmill_wait_open" (
    "cluster"         {name} NOT NULL,
    "day"             {integer} NOT NULL,
    "id_assoc"        {integer} NOT NULL,
    "partition_name"  {name} NOT NULL,
    "qos"             {name} NOT NULL,
    "bucket_s"        {integer} NOT NULL,
    "jobs"            {integer} NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc", "partition_name", "qos" {key_part}, "bucket_s")
) {replaced};

-- The time up to which fairmill_usage_day is complete, the earliest end time of a job, and the time
-- up to which the days are final.  Times are in epoch seconds.
CREATE TABLE IF NOT EXISTS "fairmill_usage_span" (
    "cluster"     {name} NOT NULL,
    "as_of"       {integer} NOT NULL,
    "oldest_end"  {integer} NOT NULL,
    "final_to"    {integer} NOT NULL,
    PRIMARY KEY ("cluster")
) {replaced};

-- The row counts and hashes of stored results.  Runs verify the rows before they continue from
-- them.  A part is a day, a history point, or 0 for all rows of a cluster.
CREATE TABLE IF NOT EXISTS "fairmill_kept" (
    "cluster"     {name} NOT NULL,
    "table_name"  {word} NOT NULL,
    "part"        {integer} NOT NULL,
    "row_count"   {integer} NOT NULL,
    "hash"        {integer} NOT NULL,
    PRIMARY KEY ("cluster", "table_name", "part")
) {replaced};

-- This table was replaced by fairmill_kept.
DROP TABLE IF EXISTS "fairmill_usage_hash";
