-- SPDX-License-Identifier: MIT
-- Output of `fairmill init --print` of fairmill 0.2.0 for PostgreSQL, for the results.
-- The result tables, for pgsql: what `fairmill init` does, and who may use them.
SELECT format('CREATE DATABASE %I TEMPLATE template0 ENCODING ''UTF8''', 'fairmill') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = 'fairmill')\gexec
\connect "fairmill"

-- Roles of the results: who runs `fairmill init`, who runs `fairmill run`, who reads all, and who reads what has no names.
SELECT format('CREATE ROLE %I', 'fairmill_owner') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_owner')\gexec
SELECT format('CREATE ROLE %I', 'fairmill_writer') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_writer')\gexec
SELECT format('CREATE ROLE %I', 'fairmill_reader') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_reader')\gexec
SELECT format('CREATE ROLE %I', 'fairmill_dashboard') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_dashboard')\gexec
GRANT USAGE, CREATE ON SCHEMA public TO fairmill_owner;
GRANT USAGE ON SCHEMA public TO fairmill_writer, fairmill_reader, fairmill_dashboard;
SET ROLE fairmill_owner;

-- Which upgrade of these tables this is; the highest version counts.
CREATE TABLE IF NOT EXISTS "fairmill_schema" (
    "version"  BIGINT NOT NULL,
    "made_at"  BIGINT NOT NULL,
    PRIMARY KEY ("version")
);

-- The fence: the run that published last, a row for each cluster.  The row of '' counts runs.
CREATE TABLE IF NOT EXISTS "fairmill_lock" (
    "cluster"  TEXT COLLATE "C" NOT NULL,
    "run_id"   BIGINT NOT NULL,
    "source"   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("cluster")
);

-- The settings that runs had.
CREATE TABLE IF NOT EXISTS "fairmill_settings" (
    "digest"  TEXT COLLATE "C" NOT NULL,
    "text"    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("digest")
);

-- Every run, also those that failed.
CREATE TABLE IF NOT EXISTS "fairmill_run" (
    "cluster"               TEXT COLLATE "C" NOT NULL,
    "run_id"                BIGINT NOT NULL,
    "as_of"                 BIGINT NOT NULL,
    "started_at"            BIGINT NOT NULL,
    "duration_ms"           BIGINT NOT NULL,
    "kind"                  TEXT COLLATE "C" NOT NULL,
    "why"                   TEXT COLLATE "C",
    "status"                TEXT COLLATE "C" NOT NULL,
    "algorithm"             TEXT COLLATE "C" NOT NULL,
    "conformance"           TEXT COLLATE "C" NOT NULL,
    "slurm_version"         TEXT COLLATE "C",
    "usage_unit"            TEXT COLLATE "C",
    "half_life"             BIGINT NOT NULL,
    "time_zone"             TEXT COLLATE "C",
    "associations"          BIGINT,
    "users"                 BIGINT,
    "jobs_read"             BIGINT,
    "unattributed_usage"    DOUBLE PRECISION,
    "truncation_bound"      DOUBLE PRECISION,
    "source_newest"         BIGINT,
    "source_lag"            BIGINT,
    "drift_max"             DOUBLE PRECISION,
    "drifted_associations"  BIGINT,
    "settings_digest"       TEXT COLLATE "C" NOT NULL,
    "version"               TEXT COLLATE "C" NOT NULL,
    "host"                  TEXT COLLATE "C",
    "os_user"               TEXT COLLATE "C",
    "message"               TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("cluster", "run_id")
);

-- What was wrong or doubtful in the input and did not stop a run.
CREATE TABLE IF NOT EXISTS "fairmill_finding" (
    "cluster"     TEXT COLLATE "C" NOT NULL,
    "kind"        TEXT COLLATE "C" NOT NULL,
    "subject"     TEXT COLLATE "C" NOT NULL,
    "first_seen"  BIGINT NOT NULL,
    "last_seen"   BIGINT NOT NULL,
    "count"       BIGINT NOT NULL,
    "detail"      TEXT COLLATE "C",
    PRIMARY KEY ("cluster", "kind", "subject")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- The living associations: what of fairmill_fairshare changes with shares, parents and names only.  Where
-- `pbs_own` is 0, the PBS values are those of the classic algorithm, and not written twice.
CREATE TABLE IF NOT EXISTS "fairmill_tree" (
    "cluster"            TEXT COLLATE "C" NOT NULL,
    "id_assoc"           BIGINT NOT NULL,
    "parent_id"          BIGINT,
    "depth"              BIGINT NOT NULL,
    "account"            TEXT COLLATE "C" NOT NULL,
    "user_name"          TEXT COLLATE "C" NOT NULL,
    "partition_name"     TEXT COLLATE "C" NOT NULL,
    "shares"             BIGINT,
    "shares_norm"        DOUBLE PRECISION,
    "level_shares_norm"  DOUBLE PRECISION,
    "tie_order"          BIGINT,
    "grp_tres_mins"      TEXT COLLATE "C",
    "pbs_own"            BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
);

-- And what changes with every run.  What the view fairmill_fairshare makes of other columns is NULL here.
CREATE TABLE IF NOT EXISTS "fairmill_value" (
    "cluster"                 TEXT COLLATE "C" NOT NULL,
    "id_assoc"                BIGINT NOT NULL,
    "usage_raw"               DOUBLE PRECISION,
    "usage_norm"              DOUBLE PRECISION,
    "capacity_usage"          DOUBLE PRECISION,
    "level_usage"             DOUBLE PRECISION,
    "classic_usage"           DOUBLE PRECISION,
    "classic_factor"          DOUBLE PRECISION,
    "linear_usage"            DOUBLE PRECISION,
    "linear_factor"           DOUBLE PRECISION,
    "depth_oblivious_ratio"   DOUBLE PRECISION,
    "depth_oblivious_factor"  DOUBLE PRECISION,
    "depth_oblivious_usage"   DOUBLE PRECISION,
    "level_fs"                DOUBLE PRECISION,
    "fair_tree_rank"          BIGINT,
    "pbs_tree_usage"          DOUBLE PRECISION,
    "pbs_factor"              DOUBLE PRECISION,
    "fairshare_order"         BIGINT,
    "pbs_order"               BIGINT,
    "tres_run_mins"           TEXT COLLATE "C",
    PRIMARY KEY ("cluster", "id_assoc")
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05);

-- Who may see what others have, where that is private: a row for each account, `account` '' for all.
CREATE TABLE IF NOT EXISTS "fairmill_privilege" (
    "cluster"    TEXT COLLATE "C" NOT NULL,
    "user_name"  TEXT COLLATE "C" NOT NULL,
    "account"    TEXT COLLATE "C" NOT NULL,
    "privilege"  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("cluster", "user_name", "account")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- The priority of every job that waits, a row for each partition and QOS it may take.
CREATE TABLE IF NOT EXISTS "fairmill_job_priority" (
    "cluster"             TEXT COLLATE "C" NOT NULL,
    "job_db_inx"          NUMERIC(20) NOT NULL,
    "partition_name"      TEXT COLLATE "C" NOT NULL,
    "qos"                 TEXT COLLATE "C" NOT NULL,
    "id_job"              BIGINT NOT NULL,
    "user_name"           TEXT COLLATE "C" NOT NULL,
    "account"             TEXT COLLATE "C" NOT NULL,
    "best"                BIGINT NOT NULL,
    "age_factor"          DOUBLE PRECISION,
    "fairshare_factor"    DOUBLE PRECISION,
    "job_size_factor"     DOUBLE PRECISION,
    "partition_factor"    DOUBLE PRECISION,
    "qos_factor"          DOUBLE PRECISION,
    "assoc_factor"        DOUBLE PRECISION,
    "age_weighted"        DOUBLE PRECISION,
    "fairshare_weighted"  DOUBLE PRECISION,
    "job_size_weighted"   DOUBLE PRECISION,
    "partition_weighted"  DOUBLE PRECISION,
    "qos_weighted"        DOUBLE PRECISION,
    "assoc_weighted"      DOUBLE PRECISION,
    "tres_factors"        TEXT COLLATE "C",
    "tres_weighted"       TEXT COLLATE "C",
    "site"                BIGINT,
    "nice"                BIGINT,
    "priority"            BIGINT,
    "priority_norm"       DOUBLE PRECISION,
    "run_id"              BIGINT NOT NULL,
    "computed_at"         BIGINT NOT NULL,
    "job_id"              TEXT COLLATE "C",
    "formula_value"       DOUBLE PRECISION,
    "why"                 TEXT COLLATE "C",
    PRIMARY KEY ("cluster", "job_db_inx", "partition_name", "qos")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- Once all of these had values.
ALTER TABLE "fairmill_job_priority"
    ALTER COLUMN "age_factor" DROP NOT NULL,
    ALTER COLUMN "fairshare_factor" DROP NOT NULL,
    ALTER COLUMN "job_size_factor" DROP NOT NULL,
    ALTER COLUMN "partition_factor" DROP NOT NULL,
    ALTER COLUMN "qos_factor" DROP NOT NULL,
    ALTER COLUMN "assoc_factor" DROP NOT NULL,
    ALTER COLUMN "age_weighted" DROP NOT NULL,
    ALTER COLUMN "fairshare_weighted" DROP NOT NULL,
    ALTER COLUMN "job_size_weighted" DROP NOT NULL,
    ALTER COLUMN "partition_weighted" DROP NOT NULL,
    ALTER COLUMN "qos_weighted" DROP NOT NULL,
    ALTER COLUMN "assoc_weighted" DROP NOT NULL,
    ALTER COLUMN "tres_factors" DROP NOT NULL,
    ALTER COLUMN "tres_weighted" DROP NOT NULL,
    ALTER COLUMN "priority" DROP NOT NULL,
    ALTER COLUMN "priority_norm" DROP NOT NULL;

-- What each name of the formula stood for that made a job's priority.
CREATE TABLE IF NOT EXISTS "fairmill_job_term" (
    "cluster"     TEXT COLLATE "C" NOT NULL,
    "job_db_inx"  NUMERIC(20) NOT NULL,
    "name"        TEXT COLLATE "C" NOT NULL,
    "value"       DOUBLE PRECISION NOT NULL,
    PRIMARY KEY ("cluster", "job_db_inx", "name")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- What the sums of fairmill_seal_usage are made of.  By it a run knows which jobs it need not read
-- again; it is not meant for other readers.
CREATE TABLE IF NOT EXISTS "fairmill_seal" (
    "cluster"       TEXT COLLATE "C" NOT NULL,
    "as_of"         BIGINT NOT NULL,
    "full_as_of"    BIGINT NOT NULL,
    "cutoff"        BIGINT NOT NULL,
    "sealed_to"     BIGINT NOT NULL,
    "counts_from"   BIGINT NOT NULL,
    "jobs_from"     BIGINT NOT NULL,
    "oldest_end"    BIGINT NOT NULL,
    "first_charge"  BIGINT NOT NULL,
    "newest_end"    BIGINT NOT NULL,
    "sums_hash"     BIGINT NOT NULL,
    "open_hash"     BIGINT NOT NULL,
    "source"        TEXT COLLATE "C" NOT NULL,
    "basis"         TEXT COLLATE "C" NOT NULL,
    "hash"          BIGINT NOT NULL,
    "checked_to"    BIGINT,
    PRIMARY KEY ("cluster")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- Usage of jobs that ended before the seal, by association: integers of 256 bits in four
-- words, the highest first.
CREATE TABLE IF NOT EXISTS "fairmill_seal_usage" (
    "cluster"   TEXT COLLATE "C" NOT NULL,
    "id_assoc"  BIGINT NOT NULL,
    "sum_3"     BIGINT NOT NULL,
    "sum_2"     BIGINT NOT NULL,
    "sum_1"     BIGINT NOT NULL,
    "sum_0"     BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05);

-- Job rows that had not ended when the seal was made.
CREATE TABLE IF NOT EXISTS "fairmill_seal_open" (
    "cluster"  TEXT COLLATE "C" NOT NULL,
    "job_key"  BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "job_key")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- Findings about jobs that ended before the seal.  One about several jobs has their number, and when the
-- first and the last of them started.
CREATE TABLE IF NOT EXISTS "fairmill_seal_odd" (
    "cluster"     TEXT COLLATE "C" NOT NULL,
    "kind"        TEXT COLLATE "C" NOT NULL,
    "subject"     BIGINT NOT NULL,
    "time_end"    BIGINT NOT NULL,
    "detail"      TEXT COLLATE "C" NOT NULL,
    "jobs"        BIGINT,
    "first_start" BIGINT,
    "last_start"  BIGINT,
    PRIMARY KEY ("cluster", "kind", "subject", "time_end")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- What the job rows in the sums were, by the day of UTC in which they ended: how many there are, and a
-- hash over them.
CREATE TABLE IF NOT EXISTS "fairmill_seal_slice" (
    "cluster"    TEXT COLLATE "C" NOT NULL,
    "day"        BIGINT NOT NULL,
    "row_count"  BIGINT NOT NULL,
    "hash"       BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- The ledger: corrections of usage that people entered, each with who and why.  Rows are only ever
-- added; `undoes` names one that does not count because of this one.
CREATE TABLE IF NOT EXISTS "fairmill_ledger" (
    "id"              BIGINT NOT NULL,
    "cluster"         TEXT COLLATE "C" NOT NULL,
    "instant"         BIGINT NOT NULL,
    "entered_at"      BIGINT NOT NULL,
    "who"             TEXT COLLATE "C" NOT NULL,
    "why"             TEXT COLLATE "C" NOT NULL,
    "kind"            TEXT COLLATE "C" NOT NULL,
    "account"         TEXT COLLATE "C" NOT NULL,
    "user_name"       TEXT COLLATE "C" NOT NULL,
    "partition_name"  TEXT COLLATE "C" NOT NULL,
    "id_assoc"        BIGINT,
    "tres_seconds"    BIGINT,
    "id_job"          BIGINT,
    "undoes"          BIGINT,
    PRIMARY KEY ("id"),
    UNIQUE ("undoes")
);

-- The associations that a reset of a user or an account in the ledger covers.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_reset" (
    "id"        BIGINT NOT NULL,
    "id_assoc"  BIGINT NOT NULL,
    PRIMARY KEY ("id", "id_assoc")
);

-- The hash of each entry of the ledger as it was made, and of that with all before it, by which one
-- that is lost or changed is found.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_chain" (
    "id"       BIGINT NOT NULL,
    "cluster"  TEXT COLLATE "C" NOT NULL,
    "hash"     TEXT COLLATE "C" NOT NULL,
    "chain"    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("id")
);

-- The entries that runs of a cluster have counted, with their hash: also of entries that 0.1.0 made.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_counted" (
    "cluster"  TEXT COLLATE "C" NOT NULL,
    "id"       BIGINT NOT NULL,
    "hash"     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("cluster", "id")
);

-- Whoever runs `fairmill run` may add to the ledger only, whatever default privileges say.
DO $$ BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_writer') THEN REVOKE UPDATE, DELETE ON "fairmill_ledger", "fairmill_ledger_reset", "fairmill_ledger_chain", "fairmill_ledger_counted" FROM "fairmill_writer"; END IF; END $$;

-- Every association as the first run saw it, and from then on as it was whenever a run saw that it
-- had changed or had been touched: `modified` is when, by the source.  `seen_before` is the run before,
-- which saw it as its older row has it.
CREATE TABLE IF NOT EXISTS "fairmill_share_change" (
    "cluster"         TEXT COLLATE "C" NOT NULL,
    "id_assoc"        BIGINT NOT NULL,
    "as_of"           BIGINT NOT NULL,
    "deleted"         BIGINT NOT NULL,
    "run_id"          BIGINT NOT NULL,
    "parent_id"       BIGINT,
    "parent_account"  TEXT COLLATE "C" NOT NULL,
    "account"         TEXT COLLATE "C" NOT NULL,
    "user_name"       TEXT COLLATE "C" NOT NULL,
    "partition_name"  TEXT COLLATE "C" NOT NULL,
    "shares"          BIGINT,
    "modified"        BIGINT,
    "seen_before"     BIGINT,
    PRIMARY KEY ("cluster", "id_assoc", "as_of")
);

-- The usage factors of QOS, and since when each holds: `told` is `added` or `changed` where txn_table
-- says so, and `seen` where it does not and a run saw the factor first.  `seen_before` is then the last
-- instant at which it was another one.
CREATE TABLE IF NOT EXISTS "fairmill_qos_change" (
    "cluster"       TEXT COLLATE "C" NOT NULL,
    "id_qos"        BIGINT NOT NULL,
    "as_of"         BIGINT NOT NULL,
    "told"          TEXT COLLATE "C" NOT NULL,
    "seen_before"   BIGINT,
    "run_id"        BIGINT NOT NULL,
    "name"          TEXT COLLATE "C" NOT NULL,
    "usage_factor"  DOUBLE PRECISION NOT NULL,
    PRIMARY KEY ("cluster", "id_qos", "as_of")
);

-- A hash of the associations of the last run, by which the next knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_share_state" (
    "cluster"     TEXT COLLATE "C" NOT NULL,
    "last_as_of"  BIGINT NOT NULL,
    "hash"        BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- The instants of fairmill_history: the first run of each history_interval.  `associations` is a hash of
-- their names and parents, by which the next point knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_history_point" (
    "cluster"       TEXT COLLATE "C" NOT NULL,
    "as_of"         BIGINT NOT NULL,
    "algorithm"     TEXT COLLATE "C" NOT NULL,
    "associations"  BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
);

-- Those of them that `backfill' made.  No value lacks a larger part than truncation_bound for want of jobs
-- that were purged, or nobody knows; of in_doubt associations nobody knows what they were then.
CREATE TABLE IF NOT EXISTS "fairmill_backfill" (
    "cluster"           TEXT COLLATE "C" NOT NULL,
    "as_of"             BIGINT NOT NULL,
    "truncation_bound"  DOUBLE PRECISION,
    "in_doubt"          BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
);

-- The values that were published at these instants.
CREATE TABLE IF NOT EXISTS "fairmill_history" (
    "cluster"    TEXT COLLATE "C" NOT NULL,
    "as_of"      BIGINT NOT NULL,
    "id_assoc"   BIGINT NOT NULL,
    "fairshare"  DOUBLE PRECISION,
    "usage_raw"  DOUBLE PRECISION,
    "level_fs"   DOUBLE PRECISION,
    PRIMARY KEY ("cluster", "as_of", "id_assoc")
);

-- How fair use was as a whole at the instant of each run, over the accounts right below the root and over
-- users.
CREATE TABLE IF NOT EXISTS "fairmill_fairness" (
    "cluster"      TEXT COLLATE "C" NOT NULL,
    "as_of"        BIGINT NOT NULL,
    "scope"        TEXT COLLATE "C" NOT NULL,
    "members"      BIGINT NOT NULL,
    "jain"         DOUBLE PRECISION,
    "use_over"     DOUBLE PRECISION,
    "share_over"   DOUBLE PRECISION,
    "use_under"    DOUBLE PRECISION,
    "share_under"  DOUBLE PRECISION,
    PRIMARY KEY ("cluster", "as_of", "scope")
);

-- What the associations of fairmill_history were called, and where they hung, from an instant on.
CREATE TABLE IF NOT EXISTS "fairmill_association" (
    "cluster"         TEXT COLLATE "C" NOT NULL,
    "id_assoc"        BIGINT NOT NULL,
    "since"           BIGINT NOT NULL,
    "parent_id"       BIGINT,
    "account"         TEXT COLLATE "C" NOT NULL,
    "user_name"       TEXT COLLATE "C" NOT NULL,
    "partition_name"  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc", "since")
);

-- Undecayed usage by day and association: a rounded number for readers, and the exact integer in three
-- words, the highest first.
CREATE TABLE IF NOT EXISTS "fairmill_usage_day" (
    "cluster"       TEXT COLLATE "C" NOT NULL,
    "day"           BIGINT NOT NULL,
    "id_assoc"      BIGINT NOT NULL,
    "tres_seconds"  DOUBLE PRECISION NOT NULL,
    "sum_2"         BIGINT NOT NULL,
    "sum_1"         BIGINT NOT NULL,
    "sum_0"         BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
);

-- The part of these sums that comes from jobs that had not ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_usage_open" (
    "cluster"   TEXT COLLATE "C" NOT NULL,
    "day"       BIGINT NOT NULL,
    "id_assoc"  BIGINT NOT NULL,
    "sum_2"     BIGINT NOT NULL,
    "sum_1"     BIGINT NOT NULL,
    "sum_0"     BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05);

-- Until when these sums are complete, and which of them are final.
CREATE TABLE IF NOT EXISTS "fairmill_usage_span" (
    "cluster"     TEXT COLLATE "C" NOT NULL,
    "as_of"       BIGINT NOT NULL,
    "oldest_end"  BIGINT NOT NULL,
    "final_to"    BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- What is known of the rows that runs go on from: by table and part (a day, or 0 for all of the cluster) how
-- many there are, and a hash over them.
CREATE TABLE IF NOT EXISTS "fairmill_kept" (
    "cluster"     TEXT COLLATE "C" NOT NULL,
    "table_name"  TEXT COLLATE "C" NOT NULL,
    "part"        BIGINT NOT NULL,
    "row_count"   BIGINT NOT NULL,
    "hash"        BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "table_name", "part")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- What was in it is in fairmill_kept now.
DROP TABLE IF EXISTS "fairmill_usage_hash";

-- Every value of every living association.
CREATE OR REPLACE VIEW "fairmill_fairshare" AS
SELECT
    t."cluster" AS "cluster",
    t."id_assoc" AS "id_assoc",
    t."parent_id" AS "parent_id",
    t."depth" AS "depth",
    t."account" AS "account",
    t."user_name" AS "user_name",
    t."partition_name" AS "partition_name",
    t."shares" AS "shares",
    t."shares_norm" AS "shares_norm",
    t."level_shares_norm" AS "level_shares_norm",
    v."usage_raw" AS "usage_raw",
    v."usage_norm" AS "usage_norm",
    v."capacity_usage" AS "capacity_usage",
    v."level_usage" AS "level_usage",
    v."classic_usage" AS "classic_usage",
    v."classic_factor" AS "classic_factor",
    v."linear_usage" AS "linear_usage",
    v."linear_factor" AS "linear_factor",
    v."depth_oblivious_ratio" AS "depth_oblivious_ratio",
    v."depth_oblivious_factor" AS "depth_oblivious_factor",
    v."level_fs" AS "level_fs",
    CAST(CASE
        WHEN t."parent_id" IS NULL THEN NULL
        WHEN v."level_fs" = 1e100 THEN 1
        ELSE 0
    END AS BIGINT) AS "level_fs_infinite",
    v."fair_tree_rank" AS "fair_tree_rank",
    CAST(v."fair_tree_rank" AS DOUBLE PRECISION) / NULLIF(r."users", 0) AS "fair_tree_factor",
    t."shares_norm" AS "pbs_target",
    CASE t."pbs_own" WHEN 1 THEN v."pbs_tree_usage" ELSE v."classic_usage" END AS "pbs_tree_usage",
    CASE t."pbs_own" WHEN 1 THEN v."pbs_factor" ELSE v."classic_factor" END AS "pbs_factor",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN CAST(v."fair_tree_rank" AS DOUBLE PRECISION) / NULLIF(r."users", 0)
        WHEN 'classic' THEN v."classic_factor"
        WHEN 'linear' THEN v."linear_factor"
        WHEN 'depth_oblivious' THEN v."depth_oblivious_factor"
        WHEN 'pbs' THEN CASE t."pbs_own" WHEN 1 THEN v."pbs_factor" ELSE v."classic_factor" END
    END AS "fairshare",
    r."run_id" AS "run_id",
    r."as_of" AS "computed_at",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN COALESCE(v."fairshare_order", r."users" - v."fair_tree_rank" + 1)
        ELSE v."fairshare_order"
    END AS "fairshare_order",
    COALESCE(v."depth_oblivious_usage", v."depth_oblivious_ratio" * t."shares_norm") AS "depth_oblivious_usage",
    t."tie_order" AS "tie_order",
    v."pbs_order" AS "pbs_order",
    t."grp_tres_mins" AS "grp_tres_mins",
    v."tres_run_mins" AS "tres_run_mins"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
JOIN "fairmill_tree" t ON t."cluster" = l."cluster"
JOIN "fairmill_value" v ON v."cluster" = t."cluster" AND v."id_assoc" = t."id_assoc";

-- The tree in the columns of sshare.
CREATE OR REPLACE VIEW "fairmill_sshare" AS
SELECT
    f."cluster" AS "cluster",
    f."id_assoc" AS "id_assoc",
    f."account" AS "account",
    f."user_name" AS "username",
    f."partition_name" AS "partition",
    CASE
        WHEN f."parent_id" IS NULL THEN NULL
        WHEN f."shares" IS NULL THEN 'parent'
        ELSE CAST(f."shares" AS TEXT)
    END AS "rawshares",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN f."level_shares_norm"
        WHEN 'pbs' THEN f."pbs_target"
        ELSE f."shares_norm"
    END AS "normshares",
    f."usage_raw" AS "rawusage",
    f."usage_norm" AS "normusage",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN f."level_usage"
        WHEN 'classic' THEN f."classic_usage"
        WHEN 'linear' THEN f."linear_usage"
        WHEN 'pbs' THEN f."pbs_tree_usage"
        ELSE COALESCE(f."depth_oblivious_usage", f."depth_oblivious_ratio" * f."shares_norm")
    END AS "effectvusage",
    f."fairshare" AS "fairshare",
    CASE r."algorithm" WHEN 'fair_tree' THEN f."level_fs" END AS "levelfs",
    f."grp_tres_mins" AS "grptresmins",
    f."tres_run_mins" AS "tresrunmins"
FROM "fairmill_fairshare" f
JOIN "fairmill_run" r ON r."cluster" = f."cluster" AND r."run_id" = f."run_id";

-- Jobs that wait in the columns of sprio.
CREATE OR REPLACE VIEW "fairmill_sprio" AS
SELECT
    j."cluster" AS "cluster",
    j."id_job" AS "jobid",
    j."partition_name" AS "partition",
    j."user_name" AS "username",
    j."account" AS "account",
    j."qos" AS "qos_name",
    j."priority" AS "priority",
    j."site" AS "site",
    j."age_weighted" AS "age",
    j."assoc_weighted" AS "assoc",
    j."fairshare_weighted" AS "fairshare",
    j."job_size_weighted" AS "jobsize",
    j."partition_weighted" AS "partition_priority",
    j."qos_weighted" AS "qos",
    j."nice" AS "nice",
    j."tres_weighted" AS "tres",
    j."best" AS "best"
FROM "fairmill_job_priority" j;

-- For each account what it has, and how its own users fare.
CREATE OR REPLACE VIEW "fairmill_account" AS
SELECT
    a."cluster" AS "cluster",
    a."id_assoc" AS "id_assoc",
    a."parent_id" AS "parent_id",
    a."account" AS "account",
    a."fairshare" AS "fairshare",
    COALESCE(u."users", 0) AS "users",
    u."best" AS "best",
    u."mean" AS "mean",
    u."worst" AS "worst",
    a."run_id" AS "run_id",
    a."computed_at" AS "computed_at",
    a."depth" AS "depth",
    a."shares" AS "shares",
    a."shares_norm" AS "shares_norm",
    a."level_shares_norm" AS "level_shares_norm",
    a."usage_raw" AS "usage_raw",
    a."usage_norm" AS "usage_norm",
    a."level_usage" AS "level_usage",
    a."level_fs" AS "level_fs",
    a."capacity_usage" AS "capacity_usage"
FROM "fairmill_fairshare" a
LEFT JOIN (
    SELECT "cluster", "parent_id", COUNT(*) AS "users", MAX("fairshare") AS "best",
        AVG("fairshare" ORDER BY "id_assoc") AS "mean", MIN("fairshare") AS "worst"
    FROM "fairmill_fairshare"
    WHERE "user_name" <> ''
    GROUP BY "cluster", "parent_id"
) u ON u."cluster" = a."cluster" AND u."parent_id" = a."id_assoc"
WHERE a."user_name" = '';

-- Accounts at the points of history, as they were called and where they hung then.  It goes from points and
-- accounts to their values by the primary key, past the values of users.
CREATE OR REPLACE VIEW "fairmill_account_history" AS
SELECT
    h."cluster" AS "cluster",
    h."as_of" AS "as_of",
    h."id_assoc" AS "id_assoc",
    n."account" AS "account",
    h."fairshare" AS "fairshare",
    h."usage_raw" AS "usage_raw",
    h."level_fs" AS "level_fs",
    n."parent_id" AS "parent_id"
FROM "fairmill_history_point" p
JOIN "fairmill_association" n ON n."cluster" = p."cluster" AND n."user_name" = '' AND n."since" = (
        SELECT MAX(m."since")
        FROM "fairmill_association" m
        WHERE m."cluster" = n."cluster" AND m."id_assoc" = n."id_assoc" AND m."since" <= p."as_of")
JOIN "fairmill_history" h ON h."cluster" = p."cluster" AND h."as_of" = p."as_of"
    AND h."id_assoc" = n."id_assoc";

-- What the users right in each account used on each day, undecayed.
CREATE OR REPLACE VIEW "fairmill_account_day" AS
SELECT
    d."cluster" AS "cluster",
    d."day" AS "day",
    n."account" AS "account",
    SUM(d."tres_seconds") AS "tres_seconds"
FROM "fairmill_usage_day" d
JOIN "fairmill_association" n ON n."cluster" = d."cluster" AND n."id_assoc" = d."id_assoc"
    AND n."since" = (
        SELECT MAX(m."since")
        FROM "fairmill_association" m
        WHERE m."cluster" = d."cluster" AND m."id_assoc" = d."id_assoc")
GROUP BY d."cluster", d."day", n."account";

-- How many jobs wait, each in the partition where it is best placed.
CREATE OR REPLACE VIEW "fairmill_waiting" AS
SELECT
    j."cluster" AS "cluster",
    j."partition_name" AS "partition",
    COUNT(*) AS "jobs",
    MAX(j."priority") AS "highest",
    MIN(j."priority") AS "lowest"
FROM "fairmill_job_priority" j
WHERE j."best" = 1
GROUP BY j."cluster", j."partition_name";

-- The same by account.
CREATE OR REPLACE VIEW "fairmill_account_waiting" AS
SELECT
    j."cluster" AS "cluster",
    j."account" AS "account",
    COUNT(*) AS "jobs",
    MAX(j."priority") AS "highest",
    MIN(j."priority") AS "lowest"
FROM "fairmill_job_priority" j
WHERE j."best" = 1
GROUP BY j."cluster", j."account";

-- What was odd, by kind, without whom it was about.
CREATE OR REPLACE VIEW "fairmill_findings" AS
SELECT
    f."cluster" AS "cluster",
    f."kind" AS "kind",
    COUNT(*) AS "findings",
    MIN(f."first_seen") AS "first_seen",
    MAX(f."last_seen") AS "last_seen"
FROM "fairmill_finding" f
GROUP BY f."cluster", f."kind";

-- Runs, without who ran them and what they said.
CREATE OR REPLACE VIEW "fairmill_runs" AS
SELECT
    r."cluster" AS "cluster",
    r."run_id" AS "run_id",
    r."as_of" AS "as_of",
    r."started_at" AS "started_at",
    r."duration_ms" AS "duration_ms",
    r."kind" AS "kind",
    r."status" AS "status",
    r."algorithm" AS "algorithm",
    r."conformance" AS "conformance",
    r."half_life" AS "half_life",
    r."associations" AS "associations",
    r."users" AS "users",
    r."jobs_read" AS "jobs_read",
    r."source_lag" AS "source_lag",
    r."drift_max" AS "drift_max"
FROM "fairmill_run" r;

-- The tree in the columns of pbsfs.
CREATE OR REPLACE VIEW "fairmill_pbsfs" AS
SELECT
    f."cluster" AS "cluster",
    f."id_assoc" AS "id_assoc",
    CASE WHEN f."user_name" = '' THEN f."account" ELSE f."user_name" END AS "name",
    CASE WHEN f."parent_id" = 2147483647 THEN 0 ELSE COALESCE(f."parent_id", -1) END AS "resgroup",
    CASE WHEN f."id_assoc" = 2147483647 THEN 0 ELSE f."id_assoc" END AS "cresgroup",
    CASE WHEN f."parent_id" IS NULL THEN NULL ELSE f."shares" END AS "shares",
    100 * f."pbs_target" AS "percentage",
    f."pbs_target" AS "fairshare_perc",
    f."pbs_target" AS "fair_share_perc",
    f."pbs_tree_usage" AS "fairshare_tree_usage",
    f."pbs_factor" AS "fairshare_factor",
    f."usage_raw" AS "usage",
    CASE WHEN f."pbs_target" > 0 THEN f."usage_raw" / f."pbs_target" ELSE -1 END AS "usage_perc",
    f."pbs_order" AS "pbs_order"
FROM "fairmill_fairshare" f;

-- The rows that `fairmill init` puts into them.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT '', r."run_id", ''
FROM (SELECT COALESCE(MAX("run_id"), 0) AS "run_id" FROM "fairmill_run") r
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = '');
INSERT INTO "fairmill_schema" ("version", "made_at")
SELECT 8, 0
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_schema" WHERE "version" = 8);
RESET ROLE;

-- Privileges on these tables, and on those of later releases.
SELECT format('CREATE ROLE %I LOGIN', 'fairmill') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill')\gexec
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO fairmill_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO fairmill_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE fairmill_owner, "fairmill" IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO fairmill_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE fairmill_owner, "fairmill" IN SCHEMA public
    GRANT SELECT ON TABLES TO fairmill_reader;
GRANT fairmill_writer TO "fairmill";
REVOKE UPDATE, DELETE ON "fairmill_ledger" FROM fairmill_writer;
REVOKE UPDATE, DELETE ON "fairmill_ledger_reset" FROM fairmill_writer;
REVOKE UPDATE, DELETE ON "fairmill_ledger_chain" FROM fairmill_writer;
REVOKE UPDATE, DELETE ON "fairmill_ledger_counted" FROM fairmill_writer;
GRANT SELECT ON "fairmill_account" TO fairmill_dashboard;
GRANT SELECT ON "fairmill_account_history" TO fairmill_dashboard;
GRANT SELECT ON "fairmill_account_day" TO fairmill_dashboard;
GRANT SELECT ON "fairmill_account_waiting" TO fairmill_dashboard;
GRANT SELECT ON "fairmill_findings" TO fairmill_dashboard;
GRANT SELECT ON "fairmill_waiting" TO fairmill_dashboard;
GRANT SELECT ON "fairmill_runs" TO fairmill_dashboard;
GRANT SELECT ON "fairmill_fairness" TO fairmill_dashboard;
