-- SPDX-License-Identifier: MIT
-- Output of `fairmill init --print` of fairmill 0.1.0 for PostgreSQL, for the results.
-- The result tables, for pgsql: what `fairmill init` does, and who may use them.
SELECT format('CREATE DATABASE %I TEMPLATE template0 ENCODING ''UTF8''', 'fairmill') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = 'fairmill')\gexec
\connect "fairmill"

-- Roles of the results: who runs `fairmill init`, who runs `fairmill run`, who reads.
SELECT format('CREATE ROLE %I', 'fairmill_owner') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_owner')\gexec
SELECT format('CREATE ROLE %I', 'fairmill_writer') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_writer')\gexec
SELECT format('CREATE ROLE %I', 'fairmill_reader') WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_reader')\gexec
GRANT USAGE, CREATE ON SCHEMA public TO fairmill_owner;
GRANT USAGE ON SCHEMA public TO fairmill_writer, fairmill_reader;
SET ROLE fairmill_owner;

-- SPDX-License-Identifier: MIT

-- Texts compare and sort bytewise ("C"), whatever the database's own collation.

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

-- What was odd in the input and did not stop a run.
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

-- Every value of every living association.  A run replaces all rows of a cluster, so their old
-- versions have to be cleared away after each, also where the cluster is a small one of many.  Rows
-- are never changed in place, and pages need no room for that.
CREATE TABLE IF NOT EXISTS "fairmill_fairshare" (
    "cluster"                 TEXT COLLATE "C" NOT NULL,
    "id_assoc"                BIGINT NOT NULL,
    "parent_id"               BIGINT,
    "depth"                   BIGINT NOT NULL,
    "account"                 TEXT COLLATE "C" NOT NULL,
    "user_name"               TEXT COLLATE "C" NOT NULL,
    "partition_name"          TEXT COLLATE "C" NOT NULL,
    "shares"                  BIGINT,
    "shares_norm"             DOUBLE PRECISION,
    "level_shares_norm"       DOUBLE PRECISION,
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
    "level_fs"                DOUBLE PRECISION,
    "level_fs_infinite"       BIGINT,
    "fair_tree_rank"          BIGINT,
    "fair_tree_factor"        DOUBLE PRECISION,
    "pbs_target"              DOUBLE PRECISION,
    "pbs_tree_usage"          DOUBLE PRECISION,
    "pbs_factor"              DOUBLE PRECISION,
    "fairshare"               DOUBLE PRECISION,
    "run_id"                  BIGINT NOT NULL,
    "computed_at"             BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
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
    "age_factor"          DOUBLE PRECISION NOT NULL,
    "fairshare_factor"    DOUBLE PRECISION NOT NULL,
    "job_size_factor"     DOUBLE PRECISION NOT NULL,
    "partition_factor"    DOUBLE PRECISION NOT NULL,
    "qos_factor"          DOUBLE PRECISION NOT NULL,
    "assoc_factor"        DOUBLE PRECISION NOT NULL,
    "age_weighted"        DOUBLE PRECISION NOT NULL,
    "fairshare_weighted"  DOUBLE PRECISION NOT NULL,
    "job_size_weighted"   DOUBLE PRECISION NOT NULL,
    "partition_weighted"  DOUBLE PRECISION NOT NULL,
    "qos_weighted"        DOUBLE PRECISION NOT NULL,
    "assoc_weighted"      DOUBLE PRECISION NOT NULL,
    "tres_factors"        TEXT COLLATE "C" NOT NULL,
    "tres_weighted"       TEXT COLLATE "C" NOT NULL,
    "site"                BIGINT,
    "nice"                BIGINT,
    "priority"            BIGINT NOT NULL,
    "priority_norm"       DOUBLE PRECISION NOT NULL,
    "run_id"              BIGINT NOT NULL,
    "computed_at"         BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "job_db_inx", "partition_name", "qos")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- What is known of the sums of fairmill_seal_usage.  No value is made for readers here: it is
-- how one run tells the next what need not be read again.
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
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- Job rows that had not ended when the seal was made.
CREATE TABLE IF NOT EXISTS "fairmill_seal_open" (
    "cluster"  TEXT COLLATE "C" NOT NULL,
    "job_key"  BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "job_key")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- What was odd about jobs that ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_seal_odd" (
    "cluster"  TEXT COLLATE "C" NOT NULL,
    "kind"     TEXT COLLATE "C" NOT NULL,
    "subject"  BIGINT NOT NULL,
    "time_end" BIGINT NOT NULL,
    "detail"   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("cluster", "kind", "subject", "time_end")
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

-- Whoever runs `fairmill run` may add to the ledger only, whatever default privileges say.
DO $$ BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'fairmill_writer') THEN REVOKE UPDATE, DELETE ON "fairmill_ledger", "fairmill_ledger_reset" FROM "fairmill_writer"; END IF; END $$;

-- Every association as the first run saw it, and from then on as it was whenever a run saw that it
-- had changed.
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
    PRIMARY KEY ("cluster", "id_assoc", "as_of")
);

-- What runs last knew of associations: how one run tells the next that nothing has changed.
CREATE TABLE IF NOT EXISTS "fairmill_share_state" (
    "cluster"     TEXT COLLATE "C" NOT NULL,
    "last_as_of"  BIGINT NOT NULL,
    "hash"        BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- The instants of fairmill_history: of the first run of each history_interval.  `associations` is a hash
-- of their names and parents, by which the next point knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_history_point" (
    "cluster"       TEXT COLLATE "C" NOT NULL,
    "as_of"         BIGINT NOT NULL,
    "algorithm"     TEXT COLLATE "C" NOT NULL,
    "associations"  BIGINT NOT NULL,
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

-- Undecayed usage by day and association: a number for readers, and the integer that it is, in
-- three words, the highest first.
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

-- Of these sums, what was added by jobs that had not ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_usage_open" (
    "cluster"   TEXT COLLATE "C" NOT NULL,
    "day"       BIGINT NOT NULL,
    "id_assoc"  BIGINT NOT NULL,
    "sum_2"     BIGINT NOT NULL,
    "sum_1"     BIGINT NOT NULL,
    "sum_0"     BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- Up to when these sums tell, and which of them are final.
CREATE TABLE IF NOT EXISTS "fairmill_usage_span" (
    "cluster"     TEXT COLLATE "C" NOT NULL,
    "as_of"       BIGINT NOT NULL,
    "oldest_end"  BIGINT NOT NULL,
    "final_to"    BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- A hash of the sums of a day: by it a full run knows that the rows need not be read.
CREATE TABLE IF NOT EXISTS "fairmill_usage_hash" (
    "cluster"  TEXT COLLATE "C" NOT NULL,
    "day"      BIGINT NOT NULL,
    "hash"     BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day")
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- SPDX-License-Identifier: MIT

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
        ELSE f."depth_oblivious_ratio" * f."shares_norm"
    END AS "effectvusage",
    f."fairshare" AS "fairshare",
    CASE r."algorithm" WHEN 'fair_tree' THEN f."level_fs" END AS "levelfs"
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

-- Of each account, how those fare who are right below it.
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
    a."computed_at" AS "computed_at"
FROM "fairmill_fairshare" a
LEFT JOIN (
    SELECT "cluster", "parent_id", COUNT(*) AS "users", MAX("fairshare") AS "best",
        AVG("fairshare") AS "mean", MIN("fairshare") AS "worst"
    FROM "fairmill_fairshare"
    WHERE "user_name" <> ''
    GROUP BY "cluster", "parent_id"
) u ON u."cluster" = a."cluster" AND u."parent_id" = a."id_assoc"
WHERE a."user_name" = '';

-- The tree in the columns of pbsfs.
CREATE OR REPLACE VIEW "fairmill_pbsfs" AS
SELECT
    f."cluster" AS "cluster",
    f."id_assoc" AS "id_assoc",
    CASE WHEN f."user_name" = '' THEN f."account" ELSE f."user_name" END AS "name",
    COALESCE(f."parent_id", -1) AS "resgroup",
    f."id_assoc" AS "cresgroup",
    CASE WHEN f."parent_id" IS NULL THEN NULL ELSE f."shares" END AS "shares",
    100 * f."pbs_target" AS "percentage",
    f."pbs_target" AS "fairshare_perc",
    f."pbs_target" AS "fair_share_perc",
    f."pbs_tree_usage" AS "fairshare_tree_usage",
    f."pbs_factor" AS "fairshare_factor",
    f."usage_raw" AS "usage",
    CASE WHEN f."pbs_target" > 0 THEN f."usage_raw" / f."pbs_target" ELSE -1 END AS "usage_perc"
FROM "fairmill_fairshare" f;

-- The rows that `fairmill init` puts into them.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT '', r."run_id", ''
FROM (SELECT COALESCE(MAX("run_id"), 0) AS "run_id" FROM "fairmill_run") r
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = '');
INSERT INTO "fairmill_schema" ("version", "made_at")
SELECT 3, 0
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_schema" WHERE "version" = 3);
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

