-- SPDX-License-Identifier: MIT

-- Readers and the writer do not wait for each other.
PRAGMA journal_mode = WAL;

-- Which upgrade of these tables this is; the highest version counts.
CREATE TABLE IF NOT EXISTS "fairmill_schema" (
    "version"  INTEGER NOT NULL,
    "made_at"  INTEGER NOT NULL,
    PRIMARY KEY ("version")
) STRICT, WITHOUT ROWID;

-- The fence: the run that published last, a row for each cluster.  The row of '' counts runs.
CREATE TABLE IF NOT EXISTS "fairmill_lock" (
    "cluster"  TEXT NOT NULL,
    "run_id"   INTEGER NOT NULL,
    "source"   TEXT NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;

-- The settings that runs had.
CREATE TABLE IF NOT EXISTS "fairmill_settings" (
    "digest"  TEXT NOT NULL,
    "text"    TEXT NOT NULL,
    PRIMARY KEY ("digest")
) STRICT, WITHOUT ROWID;

-- Every run, also those that failed.
CREATE TABLE IF NOT EXISTS "fairmill_run" (
    "cluster"               TEXT NOT NULL,
    "run_id"                INTEGER NOT NULL,
    "as_of"                 INTEGER NOT NULL,
    "started_at"            INTEGER NOT NULL,
    "duration_ms"           INTEGER NOT NULL,
    "kind"                  TEXT NOT NULL,
    "why"                   TEXT,
    "status"                TEXT NOT NULL,
    "algorithm"             TEXT NOT NULL,
    "conformance"           TEXT NOT NULL,
    "half_life"             INTEGER NOT NULL,
    "time_zone"             TEXT,
    "associations"          INTEGER,
    "users"                 INTEGER,
    "jobs_read"             INTEGER,
    "unattributed_usage"    REAL,
    "truncation_bound"      REAL,
    "source_newest"         INTEGER,
    "source_lag"            INTEGER,
    "drift_max"             REAL,
    "drifted_associations"  INTEGER,
    "settings_digest"       TEXT NOT NULL,
    "version"               TEXT NOT NULL,
    "host"                  TEXT,
    "os_user"               TEXT,
    "message"               TEXT NOT NULL,
    PRIMARY KEY ("cluster", "run_id")
) STRICT, WITHOUT ROWID;

-- What was odd in the input and did not stop a run.
CREATE TABLE IF NOT EXISTS "fairmill_finding" (
    "cluster"     TEXT NOT NULL,
    "kind"        TEXT NOT NULL,
    "subject"     TEXT NOT NULL,
    "first_seen"  INTEGER NOT NULL,
    "last_seen"   INTEGER NOT NULL,
    "count"       INTEGER NOT NULL,
    "detail"      TEXT,
    PRIMARY KEY ("cluster", "kind", "subject")
) STRICT, WITHOUT ROWID;

-- Every value of every living association.
CREATE TABLE IF NOT EXISTS "fairmill_fairshare" (
    "cluster"                 TEXT NOT NULL,
    "id_assoc"                INTEGER NOT NULL,
    "parent_id"               INTEGER,
    "depth"                   INTEGER NOT NULL,
    "account"                 TEXT NOT NULL,
    "user_name"               TEXT NOT NULL,
    "partition_name"          TEXT NOT NULL,
    "shares"                  INTEGER,
    "shares_norm"             REAL,
    "level_shares_norm"       REAL,
    "usage_raw"               REAL,
    "usage_norm"              REAL,
    "capacity_usage"          REAL,
    "level_usage"             REAL,
    "classic_usage"           REAL,
    "classic_factor"          REAL,
    "linear_usage"            REAL,
    "linear_factor"           REAL,
    "depth_oblivious_ratio"   REAL,
    "depth_oblivious_factor"  REAL,
    "level_fs"                REAL,
    "level_fs_infinite"       INTEGER,
    "fair_tree_rank"          INTEGER,
    "fair_tree_factor"        REAL,
    "pbs_target"              REAL,
    "pbs_tree_usage"          REAL,
    "pbs_factor"              REAL,
    "fairshare"               REAL,
    "run_id"                  INTEGER NOT NULL,
    "computed_at"             INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) STRICT, WITHOUT ROWID;

-- The priority of every job that waits, a row for each partition and QOS it may take.  Keys have 64 bits
-- without a sign, which integers here have not, so they are texts.
CREATE TABLE IF NOT EXISTS "fairmill_job_priority" (
    "cluster"             TEXT NOT NULL,
    "job_db_inx"          TEXT NOT NULL,
    "partition_name"      TEXT NOT NULL,
    "qos"                 TEXT NOT NULL,
    "id_job"              INTEGER NOT NULL,
    "user_name"           TEXT NOT NULL,
    "account"             TEXT NOT NULL,
    "best"                INTEGER NOT NULL,
    "age_factor"          REAL NOT NULL,
    "fairshare_factor"    REAL NOT NULL,
    "job_size_factor"     REAL NOT NULL,
    "partition_factor"    REAL NOT NULL,
    "qos_factor"          REAL NOT NULL,
    "assoc_factor"        REAL NOT NULL,
    "age_weighted"        REAL NOT NULL,
    "fairshare_weighted"  REAL NOT NULL,
    "job_size_weighted"   REAL NOT NULL,
    "partition_weighted"  REAL NOT NULL,
    "qos_weighted"        REAL NOT NULL,
    "assoc_weighted"      REAL NOT NULL,
    "tres_factors"        TEXT NOT NULL,
    "tres_weighted"       TEXT NOT NULL,
    "site"                INTEGER,
    "nice"                INTEGER,
    "priority"            INTEGER NOT NULL,
    "priority_norm"       REAL NOT NULL,
    "run_id"              INTEGER NOT NULL,
    "computed_at"         INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "job_db_inx", "partition_name", "qos")
) STRICT, WITHOUT ROWID;

-- What is known of the sums of fairmill_seal_usage.  No value is made for readers here: it is
-- how one run tells the next what need not be read again.
CREATE TABLE IF NOT EXISTS "fairmill_seal" (
    "cluster"       TEXT NOT NULL,
    "as_of"         INTEGER NOT NULL,
    "full_as_of"    INTEGER NOT NULL,
    "cutoff"        INTEGER NOT NULL,
    "sealed_to"     INTEGER NOT NULL,
    "counts_from"   INTEGER NOT NULL,
    "jobs_from"     INTEGER NOT NULL,
    "oldest_end"    INTEGER NOT NULL,
    "first_charge"  INTEGER NOT NULL,
    "newest_end"    INTEGER NOT NULL,
    "sums_hash"     INTEGER NOT NULL,
    "open_hash"     INTEGER NOT NULL,
    "source"        TEXT NOT NULL,
    "basis"         TEXT NOT NULL,
    "hash"          INTEGER NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;

-- Usage of jobs that ended before the seal, by association: integers of 256 bits in four
-- words, the highest first.
CREATE TABLE IF NOT EXISTS "fairmill_seal_usage" (
    "cluster"   TEXT NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    "sum_3"     INTEGER NOT NULL,
    "sum_2"     INTEGER NOT NULL,
    "sum_1"     INTEGER NOT NULL,
    "sum_0"     INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) STRICT, WITHOUT ROWID;

-- Job rows that had not ended when the seal was made.
CREATE TABLE IF NOT EXISTS "fairmill_seal_open" (
    "cluster"  TEXT NOT NULL,
    "job_key"  INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "job_key")
) STRICT, WITHOUT ROWID;

-- What was odd about jobs that ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_seal_odd" (
    "cluster"  TEXT NOT NULL,
    "kind"     TEXT NOT NULL,
    "subject"  INTEGER NOT NULL,
    "time_end" INTEGER NOT NULL,
    "detail"   TEXT NOT NULL,
    PRIMARY KEY ("cluster", "kind", "subject", "time_end")
) STRICT, WITHOUT ROWID;

-- The ledger: corrections of usage that people entered, each with who and why.  Rows are only ever
-- added; `undoes` names one that does not count because of this one.
CREATE TABLE IF NOT EXISTS "fairmill_ledger" (
    "id"              INTEGER NOT NULL,
    "cluster"         TEXT NOT NULL,
    "instant"         INTEGER NOT NULL,
    "entered_at"      INTEGER NOT NULL,
    "who"             TEXT NOT NULL,
    "why"             TEXT NOT NULL,
    "kind"            TEXT NOT NULL,
    "account"         TEXT NOT NULL,
    "user_name"       TEXT NOT NULL,
    "partition_name"  TEXT NOT NULL,
    "id_assoc"        INTEGER,
    "tres_seconds"    INTEGER,
    "id_job"          INTEGER,
    "undoes"          INTEGER,
    PRIMARY KEY ("id"),
    UNIQUE ("undoes")
) STRICT, WITHOUT ROWID;

-- The associations that a reset of a user or an account in the ledger covers.
CREATE TABLE IF NOT EXISTS "fairmill_ledger_reset" (
    "id"        INTEGER NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    PRIMARY KEY ("id", "id_assoc")
) STRICT, WITHOUT ROWID;

-- Every association as the first run saw it, and from then on as it was whenever a run saw that it
-- had changed.
CREATE TABLE IF NOT EXISTS "fairmill_share_change" (
    "cluster"         TEXT NOT NULL,
    "id_assoc"        INTEGER NOT NULL,
    "as_of"           INTEGER NOT NULL,
    "deleted"         INTEGER NOT NULL,
    "run_id"          INTEGER NOT NULL,
    "parent_id"       INTEGER,
    "parent_account"  TEXT NOT NULL,
    "account"         TEXT NOT NULL,
    "user_name"       TEXT NOT NULL,
    "partition_name"  TEXT NOT NULL,
    "shares"          INTEGER,
    PRIMARY KEY ("cluster", "id_assoc", "as_of")
) STRICT, WITHOUT ROWID;

-- What runs last knew of associations: how one run tells the next that nothing has changed.
CREATE TABLE IF NOT EXISTS "fairmill_share_state" (
    "cluster"     TEXT NOT NULL,
    "last_as_of"  INTEGER NOT NULL,
    "hash"        INTEGER NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;

-- The instants of fairmill_history: of the first run of each history_interval.  `associations` is a hash
-- of their names and parents, by which the next point knows whether any has changed.
CREATE TABLE IF NOT EXISTS "fairmill_history_point" (
    "cluster"       TEXT NOT NULL,
    "as_of"         INTEGER NOT NULL,
    "algorithm"     TEXT NOT NULL,
    "associations"  INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) STRICT, WITHOUT ROWID;

-- The values that were published at these instants.
CREATE TABLE IF NOT EXISTS "fairmill_history" (
    "cluster"    TEXT NOT NULL,
    "as_of"      INTEGER NOT NULL,
    "id_assoc"   INTEGER NOT NULL,
    "fairshare"  REAL,
    "usage_raw"  REAL,
    "level_fs"   REAL,
    PRIMARY KEY ("cluster", "as_of", "id_assoc")
) STRICT, WITHOUT ROWID;

-- What the associations of fairmill_history were called, and where they hung, from an instant on.
CREATE TABLE IF NOT EXISTS "fairmill_association" (
    "cluster"         TEXT NOT NULL,
    "id_assoc"        INTEGER NOT NULL,
    "since"           INTEGER NOT NULL,
    "parent_id"       INTEGER,
    "account"         TEXT NOT NULL,
    "user_name"       TEXT NOT NULL,
    "partition_name"  TEXT NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc", "since")
) STRICT, WITHOUT ROWID;

-- Undecayed usage by day and association: a number for readers, and the integer that it is, in
-- three words, the highest first.
CREATE TABLE IF NOT EXISTS "fairmill_usage_day" (
    "cluster"       TEXT NOT NULL,
    "day"           INTEGER NOT NULL,
    "id_assoc"      INTEGER NOT NULL,
    "tres_seconds"  REAL NOT NULL,
    "sum_2"         INTEGER NOT NULL,
    "sum_1"         INTEGER NOT NULL,
    "sum_0"         INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) STRICT, WITHOUT ROWID;

-- Of these sums, what was added by jobs that had not ended before the seal.
CREATE TABLE IF NOT EXISTS "fairmill_usage_open" (
    "cluster"   TEXT NOT NULL,
    "day"       INTEGER NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    "sum_2"     INTEGER NOT NULL,
    "sum_1"     INTEGER NOT NULL,
    "sum_0"     INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) STRICT, WITHOUT ROWID;

-- Up to when these sums tell, and which of them are final.
CREATE TABLE IF NOT EXISTS "fairmill_usage_span" (
    "cluster"     TEXT NOT NULL,
    "as_of"       INTEGER NOT NULL,
    "oldest_end"  INTEGER NOT NULL,
    "final_to"    INTEGER NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;

-- A hash of the sums of a day: by it a full run knows that the rows need not be read.
CREATE TABLE IF NOT EXISTS "fairmill_usage_hash" (
    "cluster"  TEXT NOT NULL,
    "day"      INTEGER NOT NULL,
    "hash"     INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "day")
) STRICT, WITHOUT ROWID;
