-- SPDX-License-Identifier: MIT
-- Output of `fairmill init --print` of fairmill 0.2.0 for MariaDB and MySQL, for the results.
-- The result tables, for mysql: what `fairmill init` does, and who may use them.
CREATE DATABASE IF NOT EXISTS `fairmill` DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
USE `fairmill`;
SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES');
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
    "slurm_version"         VARCHAR(64),
    "usage_unit"            TEXT,
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

-- What was wrong or doubtful in the input and did not stop a run.
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

-- The living associations: what of fairmill_fairshare changes with shares, parents and names only.  Where
-- `pbs_own` is 0, the PBS values are those of the classic algorithm, and not written twice.
CREATE TABLE IF NOT EXISTS "fairmill_tree" (
    "cluster"            VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_assoc"           BIGINT NOT NULL,
    "parent_id"          BIGINT,
    "depth"              BIGINT NOT NULL,
    "account"            VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "user_name"          VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "partition_name"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "shares"             BIGINT,
    "shares_norm"        DOUBLE,
    "level_shares_norm"  DOUBLE,
    "tie_order"          BIGINT,
    "grp_tres_mins"      TEXT,
    "pbs_own"            BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- And what changes with every run.  What the view fairmill_fairshare makes of other columns is NULL here.
CREATE TABLE IF NOT EXISTS "fairmill_value" (
    "cluster"                 VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_assoc"                BIGINT NOT NULL,
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
    "depth_oblivious_usage"   DOUBLE,
    "level_fs"                DOUBLE,
    "fair_tree_rank"          BIGINT,
    "pbs_tree_usage"          DOUBLE,
    "pbs_factor"              DOUBLE,
    "fairshare_order"         BIGINT,
    "pbs_order"               BIGINT,
    "tres_run_mins"           TEXT,
    PRIMARY KEY ("cluster", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Who may see what others have, where that is private: a row for each account, `account` '' for all.
CREATE TABLE IF NOT EXISTS "fairmill_privilege" (
    "cluster"    VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "user_name"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "account"    VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "privilege"  VARCHAR(64) NOT NULL,
    PRIMARY KEY ("cluster", "user_name", "account")
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
    "age_factor"          DOUBLE,
    "fairshare_factor"    DOUBLE,
    "job_size_factor"     DOUBLE,
    "partition_factor"    DOUBLE,
    "qos_factor"          DOUBLE,
    "assoc_factor"        DOUBLE,
    "age_weighted"        DOUBLE,
    "fairshare_weighted"  DOUBLE,
    "job_size_weighted"   DOUBLE,
    "partition_weighted"  DOUBLE,
    "qos_weighted"        DOUBLE,
    "assoc_weighted"      DOUBLE,
    "tres_factors"        TEXT,
    "tres_weighted"       TEXT,
    "site"                BIGINT,
    "nice"                BIGINT,
    "priority"            BIGINT,
    "priority_norm"       DOUBLE,
    "run_id"              BIGINT NOT NULL,
    "computed_at"         BIGINT NOT NULL,
    "job_id"              VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */,
    "formula_value"       DOUBLE,
    "why"                 VARCHAR(255),
    PRIMARY KEY ("cluster", "job_db_inx", "partition_name", "qos")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Once all of these had values.
ALTER TABLE "fairmill_job_priority"
    MODIFY COLUMN "age_factor" DOUBLE,
    MODIFY COLUMN "fairshare_factor" DOUBLE,
    MODIFY COLUMN "job_size_factor" DOUBLE,
    MODIFY COLUMN "partition_factor" DOUBLE,
    MODIFY COLUMN "qos_factor" DOUBLE,
    MODIFY COLUMN "assoc_factor" DOUBLE,
    MODIFY COLUMN "age_weighted" DOUBLE,
    MODIFY COLUMN "fairshare_weighted" DOUBLE,
    MODIFY COLUMN "job_size_weighted" DOUBLE,
    MODIFY COLUMN "partition_weighted" DOUBLE,
    MODIFY COLUMN "qos_weighted" DOUBLE,
    MODIFY COLUMN "assoc_weighted" DOUBLE,
    MODIFY COLUMN "tres_factors" TEXT,
    MODIFY COLUMN "tres_weighted" TEXT,
    MODIFY COLUMN "priority" BIGINT,
    MODIFY COLUMN "priority_norm" DOUBLE;

-- What each name of the formula stood for that made a job's priority.
CREATE TABLE IF NOT EXISTS "fairmill_job_term" (
    "cluster"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "job_db_inx"  BIGINT UNSIGNED NOT NULL,
    "name"        VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "value"       DOUBLE NOT NULL,
    PRIMARY KEY ("cluster", "job_db_inx", "name")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What the sums of fairmill_seal_usage are made of.  By it a run knows which jobs it need not read
-- again; it is not meant for other readers.
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
    "checked_to"    BIGINT,
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

-- Findings about jobs that ended before the seal.  One about several jobs has their number, and when the
-- first and the last of them started.
CREATE TABLE IF NOT EXISTS "fairmill_seal_odd" (
    "cluster"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "kind"        VARCHAR(64) NOT NULL,
    "subject"     BIGINT NOT NULL,
    "time_end"    BIGINT NOT NULL,
    "detail"      VARCHAR(255) NOT NULL,
    "jobs"        BIGINT,
    "first_start" BIGINT,
    "last_start"  BIGINT,
    PRIMARY KEY ("cluster", "kind", "subject", "time_end")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What the job rows in the sums were, by the day of UTC in which they ended: how many there are, and a
-- hash over them.
CREATE TABLE IF NOT EXISTS "fairmill_seal_slice" (
    "cluster"    VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "day"        BIGINT NOT NULL,
    "row_count"  BIGINT NOT NULL,
    "hash"       BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day")
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

-- The hash of each entry of the ledger as it was made, and of that with all before it, by which one
-- that is lost or changed is found.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_chain" (
    "id"       BIGINT NOT NULL,
    "cluster"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "hash"     VARCHAR(64) NOT NULL,
    "chain"    VARCHAR(64) NOT NULL,
    PRIMARY KEY ("id")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The entries that runs of a cluster have counted, with their hash: also of entries that 0.1.0 made.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_counted" (
    "cluster"  VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id"       BIGINT NOT NULL,
    "hash"     VARCHAR(64) NOT NULL,
    PRIMARY KEY ("cluster", "id")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Every association as the first run saw it, and from then on as it was whenever a run saw that it
-- had changed or had been touched: `modified` is when, by the source.  `seen_before` is the run before,
-- which saw it as its older row has it.
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
    "modified"        BIGINT,
    "seen_before"     BIGINT,
    PRIMARY KEY ("cluster", "id_assoc", "as_of")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The usage factors of QOS, and since when each holds: `told` is `added` or `changed` where txn_table
-- says so, and `seen` where it does not and a run saw the factor first.  `seen_before` is then the last
-- instant at which it was another one.
CREATE TABLE IF NOT EXISTS "fairmill_qos_change" (
    "cluster"       VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "id_qos"        BIGINT NOT NULL,
    "as_of"         BIGINT NOT NULL,
    "told"          VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "seen_before"   BIGINT,
    "run_id"        BIGINT NOT NULL,
    "name"          VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "usage_factor"  DOUBLE NOT NULL,
    PRIMARY KEY ("cluster", "id_qos", "as_of")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- A hash of the associations of the last run, by which the next knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_share_state" (
    "cluster"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "last_as_of"  BIGINT NOT NULL,
    "hash"        BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The instants of fairmill_history: the first run of each history_interval.  `associations` is a hash of
-- their names and parents, by which the next point knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_history_point" (
    "cluster"       VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "as_of"         BIGINT NOT NULL,
    "algorithm"     VARCHAR(64) NOT NULL,
    "associations"  BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Those of them that `backfill' made.  No value lacks a larger part than truncation_bound for want of jobs
-- that were purged, or nobody knows; of in_doubt associations nobody knows what they were then.
CREATE TABLE IF NOT EXISTS "fairmill_backfill" (
    "cluster"           VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "as_of"             BIGINT NOT NULL,
    "truncation_bound"  DOUBLE,
    "in_doubt"          BIGINT NOT NULL,
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

-- How fair use was as a whole at the instant of each run, over the accounts right below the root and over
-- users.
CREATE TABLE IF NOT EXISTS "fairmill_fairness" (
    "cluster"      VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "as_of"        BIGINT NOT NULL,
    "scope"        VARCHAR(64) NOT NULL,
    "members"      BIGINT NOT NULL,
    "jain"         DOUBLE,
    "use_over"     DOUBLE,
    "share_over"   DOUBLE,
    "use_under"    DOUBLE,
    "share_under"  DOUBLE,
    PRIMARY KEY ("cluster", "as_of", "scope")
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

-- Undecayed usage by day and association: a rounded number for readers, and the exact integer in three
-- words, the highest first.
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

-- The part of these sums that comes from jobs that had not ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_usage_open" (
    "cluster"   VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "day"       BIGINT NOT NULL,
    "id_assoc"  BIGINT NOT NULL,
    "sum_2"     BIGINT NOT NULL,
    "sum_1"     BIGINT NOT NULL,
    "sum_0"     BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Until when these sums are complete, and which of them are final.
CREATE TABLE IF NOT EXISTS "fairmill_usage_span" (
    "cluster"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "as_of"       BIGINT NOT NULL,
    "oldest_end"  BIGINT NOT NULL,
    "final_to"    BIGINT NOT NULL,
    PRIMARY KEY ("cluster")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What is known of the rows that runs go on from: by table and part (a day, or 0 for all of the cluster) how
-- many there are, and a hash over them.
CREATE TABLE IF NOT EXISTS "fairmill_kept" (
    "cluster"     VARCHAR(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    "table_name"  VARCHAR(64) NOT NULL,
    "part"        BIGINT NOT NULL,
    "row_count"   BIGINT NOT NULL,
    "hash"        BIGINT NOT NULL,
    PRIMARY KEY ("cluster", "table_name", "part")
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What was in it is in fairmill_kept now.
DROP TABLE IF EXISTS "fairmill_usage_hash";

-- Every value of every living association.
CREATE OR REPLACE SQL SECURITY DEFINER VIEW "fairmill_fairshare" AS
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
    END AS SIGNED) AS "level_fs_infinite",
    v."fair_tree_rank" AS "fair_tree_rank",
    CAST(v."fair_tree_rank" AS DOUBLE) / NULLIF(r."users", 0) AS "fair_tree_factor",
    t."shares_norm" AS "pbs_target",
    CASE t."pbs_own" WHEN 1 THEN v."pbs_tree_usage" ELSE v."classic_usage" END AS "pbs_tree_usage",
    CASE t."pbs_own" WHEN 1 THEN v."pbs_factor" ELSE v."classic_factor" END AS "pbs_factor",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN CAST(v."fair_tree_rank" AS DOUBLE) / NULLIF(r."users", 0)
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
        ELSE COALESCE(f."depth_oblivious_usage", f."depth_oblivious_ratio" * f."shares_norm")
    END AS "effectvusage",
    f."fairshare" AS "fairshare",
    CASE r."algorithm" WHEN 'fair_tree' THEN f."level_fs" END AS "levelfs",
    f."grp_tres_mins" AS "grptresmins",
    f."tres_run_mins" AS "tresrunmins"
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

-- For each account what it has, and how its own users fare.
CREATE OR REPLACE SQL SECURITY DEFINER VIEW "fairmill_account" AS
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
        AVG("fairshare") AS "mean", MIN("fairshare") AS "worst"
    FROM "fairmill_fairshare"
    WHERE "user_name" <> ''
    GROUP BY "cluster", "parent_id"
) u ON u."cluster" = a."cluster" AND u."parent_id" = a."id_assoc"
WHERE a."user_name" = '';

-- Accounts at the points of history, as they were called and where they hung then.  It goes from points and
-- accounts to their values by the primary key, past the values of users.
CREATE OR REPLACE SQL SECURITY DEFINER VIEW "fairmill_account_history" AS
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
CREATE OR REPLACE SQL SECURITY DEFINER VIEW "fairmill_account_day" AS
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
CREATE OR REPLACE SQL SECURITY DEFINER VIEW "fairmill_waiting" AS
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
CREATE OR REPLACE SQL SECURITY DEFINER VIEW "fairmill_account_waiting" AS
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
CREATE OR REPLACE SQL SECURITY DEFINER VIEW "fairmill_findings" AS
SELECT
    f."cluster" AS "cluster",
    f."kind" AS "kind",
    COUNT(*) AS "findings",
    MIN(f."first_seen") AS "first_seen",
    MAX(f."last_seen") AS "last_seen"
FROM "fairmill_finding" f
GROUP BY f."cluster", f."kind";

-- Runs, without who ran them and what they said.
CREATE OR REPLACE SQL SECURITY DEFINER VIEW "fairmill_runs" AS
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
CREATE OR REPLACE SQL SECURITY INVOKER VIEW "fairmill_pbsfs" AS
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
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_tree` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_value` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_privilege` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_job_priority` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_job_term` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal_usage` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal_open` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal_odd` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_seal_slice` TO fairmill_writer;
GRANT INSERT ON `fairmill`.`fairmill_ledger` TO fairmill_writer;
GRANT INSERT ON `fairmill`.`fairmill_ledger_reset` TO fairmill_writer;
GRANT INSERT ON `fairmill`.`fairmill_ledger_chain` TO fairmill_writer;
GRANT INSERT ON `fairmill`.`fairmill_ledger_counted` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_share_change` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_qos_change` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_share_state` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_history_point` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_backfill` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_history` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_fairness` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_association` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_usage_day` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_usage_open` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_usage_span` TO fairmill_writer;
GRANT INSERT, UPDATE, DELETE ON `fairmill`.`fairmill_kept` TO fairmill_writer;
REVOKE /*!80030 IF EXISTS */ INSERT, UPDATE, DELETE ON `fairmill`.* FROM fairmill_writer;
CREATE ROLE IF NOT EXISTS fairmill_dashboard; -- reads what has no names
GRANT SELECT ON `fairmill`.`fairmill_account` TO fairmill_dashboard;
GRANT SELECT ON `fairmill`.`fairmill_account_history` TO fairmill_dashboard;
GRANT SELECT ON `fairmill`.`fairmill_account_day` TO fairmill_dashboard;
GRANT SELECT ON `fairmill`.`fairmill_account_waiting` TO fairmill_dashboard;
GRANT SELECT ON `fairmill`.`fairmill_findings` TO fairmill_dashboard;
GRANT SELECT ON `fairmill`.`fairmill_waiting` TO fairmill_dashboard;
GRANT SELECT ON `fairmill`.`fairmill_runs` TO fairmill_dashboard;
GRANT SELECT ON `fairmill`.`fairmill_fairness` TO fairmill_dashboard;
/*M! CREATE USER IF NOT EXISTS 'fairmill'@'localhost' IDENTIFIED VIA unix_socket */;
-- MySQL without its plugin: INSTALL PLUGIN auth_socket SONAME 'auth_socket.so';
/*!80000 CREATE USER IF NOT EXISTS 'fairmill'@'localhost' IDENTIFIED WITH auth_socket */;
GRANT fairmill_writer TO 'fairmill'@'localhost'; SET DEFAULT ROLE fairmill_writer /*M! FOR */ /*!80000 TO */ 'fairmill'@'localhost';
