-- SPDX-License-Identifier: MIT
-- Output of `fairmill init --print` of fairmill 0.1.0 for MariaDB and MySQL, for the results.
-- The result tables, for mysql: what `fairmill init` does, and who may use them.
CREATE DATABASE IF NOT EXISTS `fairmill` DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
USE `fairmill`;
SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES');
-- SPDX-License-Identifier: MIT

-- Names are bytes, and a blank at their end makes them others, which in MariaDB and in MySQL are
-- two collations.

-- Which upgrade of these tables this is; the highest version counts.
CREATE TABLE IF NOT EXISTS "fairmill_schema" (
    "version"  BIGINT NOT NULL,
    "made_at"  BIGINT NOT NULL,
    PRIMARY KEY ("version")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The fence: the run that published last, a row for each cluster.  The row of '' counts runs.
CREATE TABLE IF NOT EXISTS "fairmill_lock" (
    "cluster"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "run_id"   BIGINT NOT NULL,
    "source"   TEXT NOT NULL,
    PRIMARY KEY ("cluster")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The settings that runs had.
CREATE TABLE IF NOT EXISTS "fairmill_settings" (
    "digest"  VARCHAR(64) NOT NULL,
    "text"    TEXT NOT NULL,
    PRIMARY KEY ("digest")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Every run, also those that failed.
CREATE TABLE IF NOT EXISTS "fairmill_run" (
    "cluster"               VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "run_id"                BIGINT NOT NULL,
    "as_of"                 BIGINT NOT NULL,
    "started_at"            BIGINT NOT NULL,
    "duration_ms"           BIGINT NOT NULL,
    "kind"                  VARCHAR(64) NOT NULL,
    "why"                   VARCHAR(255),
    "status"                VARCHAR(64) NOT NULL,
    "algorithm"             VARCHAR(64) NOT NULL,
    "conformance"           VARCHAR(64) NOT NULL,
    "half_life"             BIGINT NOT NULL,
    "time_zone"             VARCHAR(255),
    "associations"          BIGINT,
    "users"                 BIGINT,
    "jobs_read"             BIGINT,
    "unattributed_usage"    DOUBLE,
    "truncation_bound"      DOUBLE,
    "source_newest"         BIGINT,
    "source_lag"            BIGINT,
    "drift_max"             DOUBLE,
    "drifted_associations"  BIGINT,
    "settings_digest"       VARCHAR(64) NOT NULL,
    "version"               VARCHAR(64) NOT NULL,
    "host"                  VARCHAR(255),
    "os_user"               VARCHAR(255),
    "message"               TEXT NOT NULL,
    PRIMARY KEY ("cluster", "run_id")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What was odd in the input and did not stop a run.
CREATE TABLE IF NOT EXISTS "fairmill_finding" (
    "cluster"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "kind"        VARCHAR(64) NOT NULL,
    "subject"     VARCHAR(64) NOT NULL,
    "first_seen"  BIGINT NOT NULL,
    "last_seen"   BIGINT NOT NULL,
    "count"       BIGINT NOT NULL,
    "detail"      VARCHAR(255),
    PRIMARY KEY ("cluster", "kind", "subject")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Every value of every living association.
CREATE TABLE IF NOT EXISTS "fairmill_fairshare" (
    "cluster"                 VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_assoc"                BIGINT NOT NULL,
    "parent_id"               BIGINT,
    "depth"                   BIGINT NOT NULL,
    "account"                 VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "user_name"               VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "partition_name"          VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "shares"                  BIGINT,
    "shares_norm"             DOUBLE,
    "level_shares_norm"       DOUBLE,
    "usage_raw"               DOUBLE,
    "usage_norm"              DOUBLE,
    "capacity_usage"          DOUBLE,
    "level_usage"             DOUBLE,
    "classic_usage"           DOUBLE,
    "classic_factor"          DOUBLE,
    "linear_usage"            DOUBLE,
    "linear_factor"           DOUBLE,
    "depth_oblivious_ratio"   DOUBLE,
    "depth_oblivious_factor"  DOUBLE,
    "level_fs"                DOUBLE,
    "level_fs_infinite"       BIGINT,
    "fair_tree_rank"          BIGINT,
    "fair_tree_factor"        DOUBLE,
    "pbs_target"              DOUBLE,
    "pbs_tree_usage"          DOUBLE,
    "pbs_factor"              DOUBLE,
    "fairshare"               DOUBLE,
    "run_id"                  BIGINT NOT NULL,
    "computed_at"             BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The priority of every job that waits, a row for each partition and QOS it may take.
CREATE TABLE IF NOT EXISTS "fairmill_job_priority" (
    "cluster"             VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "job_db_inx"          BIGINT UNSIGNED NOT NULL,
    "partition_name"      VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "qos"                 VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_job"              BIGINT NOT NULL,
    "user_name"           VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "account"             VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "best"                BIGINT NOT NULL,
    "age_factor"          DOUBLE NOT NULL,
    "fairshare_factor"    DOUBLE NOT NULL,
    "job_size_factor"     DOUBLE NOT NULL,
    "partition_factor"    DOUBLE NOT NULL,
    "qos_factor"          DOUBLE NOT NULL,
    "assoc_factor"        DOUBLE NOT NULL,
    "age_weighted"        DOUBLE NOT NULL,
    "fairshare_weighted"  DOUBLE NOT NULL,
    "job_size_weighted"   DOUBLE NOT NULL,
    "partition_weighted"  DOUBLE NOT NULL,
    "qos_weighted"        DOUBLE NOT NULL,
    "assoc_weighted"      DOUBLE NOT NULL,
    "tres_factors"        TEXT NOT NULL,
    "tres_weighted"       TEXT NOT NULL,
    "site"                BIGINT,
    "nice"                BIGINT,
    "priority"            BIGINT NOT NULL,
    "priority_norm"       DOUBLE NOT NULL,
    "run_id"              BIGINT NOT NULL,
    "computed_at"         BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "job_db_inx", "partition_name", "qos")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What is known of the sums of fairmill_seal_usage.  No value is made for readers here: it is
-- how one run tells the next what need not be read again.
CREATE TABLE IF NOT EXISTS "fairmill_seal" (
    "cluster"       VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
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
    "source"        TEXT NOT NULL,
    "basis"         TEXT NOT NULL,
    "hash"          BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Usage of jobs that ended before the seal, by association: integers of 256 bits in four
-- words, the highest first.
CREATE TABLE IF NOT EXISTS "fairmill_seal_usage" (
    "cluster"   VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_assoc"  BIGINT NOT NULL,
    "sum_3"     BIGINT NOT NULL,
    "sum_2"     BIGINT NOT NULL,
    "sum_1"     BIGINT NOT NULL,
    "sum_0"     BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Job rows that had not ended when the seal was made.
CREATE TABLE IF NOT EXISTS "fairmill_seal_open" (
    "cluster"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "job_key"  BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "job_key")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What was odd about jobs that ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_seal_odd" (
    "cluster"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "kind"     VARCHAR(64) NOT NULL,
    "subject"  BIGINT NOT NULL,
    "time_end" BIGINT NOT NULL,
    "detail"   VARCHAR(255) NOT NULL,
    PRIMARY KEY ("cluster", "kind", "subject", "time_end")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The ledger: corrections of usage that people entered, each with who and why.  Rows are only ever
-- added; `undoes` names one that does not count because of this one.
CREATE TABLE IF NOT EXISTS "fairmill_ledger" (
    "id"              BIGINT NOT NULL,
    "cluster"         VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "instant"         BIGINT NOT NULL,
    "entered_at"      BIGINT NOT NULL,
    "who"             VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "why"             VARCHAR(255) NOT NULL,
    "kind"            VARCHAR(64) NOT NULL,
    "account"         VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "user_name"       VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "partition_name"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_assoc"        BIGINT,
    "tres_seconds"    BIGINT,
    "id_job"          BIGINT,
    "undoes"          BIGINT,
    PRIMARY KEY ("id"),
    UNIQUE ("undoes")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The associations that a reset of a user or an account in the ledger covers.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_reset" (
    "id"        BIGINT NOT NULL,
    "id_assoc"  BIGINT NOT NULL,
    PRIMARY KEY ("id", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Every association as the first run saw it, and from then on as it was whenever a run saw that it
-- had changed.
CREATE TABLE IF NOT EXISTS "fairmill_share_change" (
    "cluster"         VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_assoc"        BIGINT NOT NULL,
    "as_of"           BIGINT NOT NULL,
    "deleted"         BIGINT NOT NULL,
    "run_id"          BIGINT NOT NULL,
    "parent_id"       BIGINT,
    "parent_account"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "account"         VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "user_name"       VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "partition_name"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "shares"          BIGINT,
    PRIMARY KEY ("cluster", "id_assoc", "as_of")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What runs last knew of associations: how one run tells the next that nothing has changed.
CREATE TABLE IF NOT EXISTS "fairmill_share_state" (
    "cluster"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "last_as_of"  BIGINT NOT NULL,
    "hash"        BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The instants of fairmill_history: of the first run of each history_interval.  `associations` is a hash
-- of their names and parents, by which the next point knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_history_point" (
    "cluster"       VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "as_of"         BIGINT NOT NULL,
    "algorithm"     VARCHAR(64) NOT NULL,
    "associations"  BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The values that were published at these instants.
CREATE TABLE IF NOT EXISTS "fairmill_history" (
    "cluster"    VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "as_of"      BIGINT NOT NULL,
    "id_assoc"   BIGINT NOT NULL,
    "fairshare"  DOUBLE,
    "usage_raw"  DOUBLE,
    "level_fs"   DOUBLE,
    PRIMARY KEY ("cluster", "as_of", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What the associations of fairmill_history were called, and where they hung, from an instant on.
CREATE TABLE IF NOT EXISTS "fairmill_association" (
    "cluster"         VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_assoc"        BIGINT NOT NULL,
    "since"           BIGINT NOT NULL,
    "parent_id"       BIGINT,
    "account"         VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "user_name"       VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "partition_name"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc", "since")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Undecayed usage by day and association: a number for readers, and the integer that it is, in
-- three words, the highest first.
CREATE TABLE IF NOT EXISTS "fairmill_usage_day" (
    "cluster"       VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "day"           BIGINT NOT NULL,
    "id_assoc"      BIGINT NOT NULL,
    "tres_seconds"  DOUBLE NOT NULL,
    "sum_2"         BIGINT NOT NULL,
    "sum_1"         BIGINT NOT NULL,
    "sum_0"         BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Of these sums, what was added by jobs that had not ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_usage_open" (
    "cluster"   VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "day"       BIGINT NOT NULL,
    "id_assoc"  BIGINT NOT NULL,
    "sum_2"     BIGINT NOT NULL,
    "sum_1"     BIGINT NOT NULL,
    "sum_0"     BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Up to when these sums tell, and which of them are final.
CREATE TABLE IF NOT EXISTS "fairmill_usage_span" (
    "cluster"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "as_of"       BIGINT NOT NULL,
    "oldest_end"  BIGINT NOT NULL,
    "final_to"    BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- A hash of the sums of a day: by it a full run knows that the rows need not be read.
CREATE TABLE IF NOT EXISTS "fairmill_usage_hash" (
    "cluster"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "day"      BIGINT NOT NULL,
    "hash"     BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- SPDX-License-Identifier: MIT

-- The tree in the columns of sshare.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW "fairmill_sshare" AS
SELECT
    f."cluster" AS "cluster",
    f."id_assoc" AS "id_assoc",
    f."account" AS "account",
    f."user_name" AS "username",
    f."partition_name" AS "partition",
    CASE
        WHEN f."parent_id" IS NULL THEN NULL
        WHEN f."shares" IS NULL THEN 'parent'
        ELSE CAST(f."shares" AS CHAR)
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
CREATE OR REPLACE SQL SECURITY INVOKER VIEW "fairmill_sprio" AS
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
CREATE OR REPLACE SQL SECURITY INVOKER VIEW "fairmill_account" AS
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
CREATE OR REPLACE SQL SECURITY INVOKER VIEW "fairmill_pbsfs" AS
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

-- Roles of the results.
CREATE ROLE IF NOT EXISTS fairmill_owner; -- runs `fairmill init`
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW ON `fairmill`.* TO fairmill_owner;
CREATE ROLE IF NOT EXISTS fairmill_writer; -- runs `fairmill run`
GRANT SELECT ON `fairmill`.* TO fairmill_writer;
CREATE ROLE IF NOT EXISTS fairmill_reader; -- reads results
GRANT SELECT ON `fairmill`.* TO fairmill_reader;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_schema` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_lock` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_settings` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_run` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_finding` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_fairshare` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_job_priority` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal_usage` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal_open` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal_odd` TO fairmill_writer;
GRANT INSERT ON `fairmill`.`fairmill_ledger` TO fairmill_writer;
GRANT INSERT ON `fairmill`.`fairmill_ledger_reset` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_share_change` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_share_state` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_history_point` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_history` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_association` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_usage_day` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_usage_open` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_usage_span` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_usage_hash` TO fairmill_writer;
REVOKE INSERT, UPDATE, DELETE ON `fairmill`.* FROM fairmill_writer;
/*M! CREATE USER IF NOT EXISTS 'fairmill'@'localhost' IDENTIFIED VIA unix_socket */;
/*!80000 CREATE USER IF NOT EXISTS 'fairmill'@'localhost' IDENTIFIED WITH auth_socket */;
GRANT fairmill_writer TO 'fairmill'@'localhost';
/*M! SET DEFAULT ROLE fairmill_writer FOR 'fairmill'@'localhost' */;
/*!80000 SET DEFAULT ROLE fairmill_writer TO 'fairmill'@'localhost' */;

