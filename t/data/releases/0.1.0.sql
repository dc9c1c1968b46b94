-- SPDX-License-Identifier: MIT
-- Results of fairmill 0.1.0 in SQLite: two runs of a small site.
BEGIN TRANSACTION;
CREATE TABLE "fairmill_association" (
    "cluster"         TEXT NOT NULL,
    "id_assoc"        INTEGER NOT NULL,
    "since"           INTEGER NOT NULL,
    "parent_id"       INTEGER,
    "account"         TEXT NOT NULL,
    "user_name"       TEXT NOT NULL,
    "partition_name"  TEXT NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc", "since")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_association" VALUES('tiny',1,1750500000,NULL,'root','','');
INSERT INTO "fairmill_association" VALUES('tiny',2,1750500000,1,'physics','','');
INSERT INTO "fairmill_association" VALUES('tiny',3,1750500000,2,'physics','alice','');
INSERT INTO "fairmill_association" VALUES('tiny',4,1750500000,2,'physics','bob','');
INSERT INTO "fairmill_association" VALUES('tiny',5,1750500000,1,'chemistry','','');
INSERT INTO "fairmill_association" VALUES('tiny',6,1750500000,5,'chemistry','carol','');
CREATE TABLE "fairmill_fairshare" (
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
INSERT INTO "fairmill_fairshare" VALUES('tiny',1,NULL,0,'root','','',1,1.0,NULL,550.0,1.0,NULL,NULL,1.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1.0,1.0,NULL,NULL,2,1750507200);
INSERT INTO "fairmill_fairshare" VALUES('tiny',2,1,1,'physics','','',60,0.6,0.6,350.0,6.36363636363636353543e-01,NULL,6.36363636363636353543e-01,6.36363636363636353543e-01,4.79430613729824317559e-01,NULL,NULL,1.06060606060606055223e+00,4.79430613729824317559e-01,9.4285714285714283811e-01,0,NULL,NULL,0.6,6.36363636363636353543e-01,4.79430613729824317559e-01,NULL,2,1750507200);
INSERT INTO "fairmill_fairshare" VALUES('tiny',3,2,2,'physics','alice','',10,0.3,0.5,250.0,4.54545454545454530315e-01,NULL,7.14285714285714301574e-01,5.45454545454545414173e-01,2.83578130548865658955e-01,NULL,NULL,1.51515151515151513805e+00,3.49859721396662326498e-01,0.7,0,1,3.33333333333333314829e-01,0.3,5.45454545454545414173e-01,2.83578130548865658955e-01,3.33333333333333314829e-01,2,1750507200);
INSERT INTO "fairmill_fairshare" VALUES('tiny',4,2,2,'physics','bob','',10,0.3,0.5,100.0,1.81818181818181823228e-01,NULL,2.85714285714285698425e-01,4.0909090909090906063e-01,3.88601570442729860044e-01,NULL,NULL,6.33689478030274311315e-01,6.44526026438143606611e-01,1.75,0,2,6.66666666666666629659e-01,0.3,4.0909090909090906063e-01,3.88601570442729860044e-01,6.66666666666666629659e-01,2,1750507200);
INSERT INTO "fairmill_fairshare" VALUES('tiny',5,1,1,'chemistry','','',40,0.4,0.4,200.0,3.63636363636363646456e-01,NULL,3.63636363636363646456e-01,3.63636363636363646456e-01,5.32520544719981336889e-01,NULL,NULL,9.0909090909090906063e-01,5.32520544719981336889e-01,1.1,0,NULL,NULL,0.4,3.63636363636363646456e-01,5.32520544719981336889e-01,NULL,2,1750507200);
INSERT INTO "fairmill_fairshare" VALUES('tiny',6,5,2,'chemistry','carol','',1,0.4,1.0,200.0,3.63636363636363646456e-01,NULL,1.0,3.63636363636363646456e-01,5.32520544719981336889e-01,NULL,NULL,9.0909090909090906063e-01,5.32520544719981336889e-01,1.0,0,3,1.0,0.4,3.63636363636363646456e-01,5.32520544719981336889e-01,1.0,2,1750507200);
CREATE TABLE "fairmill_finding" (
    "cluster"     TEXT NOT NULL,
    "kind"        TEXT NOT NULL,
    "subject"     TEXT NOT NULL,
    "first_seen"  INTEGER NOT NULL,
    "last_seen"   INTEGER NOT NULL,
    "count"       INTEGER NOT NULL,
    "detail"      TEXT,
    PRIMARY KEY ("cluster", "kind", "subject")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_finding" VALUES('tiny','capacity_unknown','',1750500000,1750507200,2,'the cluster registered no TRES that is charged');
CREATE TABLE "fairmill_history" (
    "cluster"    TEXT NOT NULL,
    "as_of"      INTEGER NOT NULL,
    "id_assoc"   INTEGER NOT NULL,
    "fairshare"  REAL,
    "usage_raw"  REAL,
    "level_fs"   REAL,
    PRIMARY KEY ("cluster", "as_of", "id_assoc")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,1,NULL,600.0,NULL);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,2,NULL,400.0,0.9);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,3,3.33333333333333314829e-01,300.0,6.66666666666666629659e-01);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,4,6.66666666666666629659e-01,100.0,2.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,5,NULL,200.0,1.2);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,6,1.0,200.0,1.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,1,NULL,550.0,NULL);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,2,NULL,350.0,9.4285714285714283811e-01);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,3,3.33333333333333314829e-01,250.0,0.7);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,4,6.66666666666666629659e-01,100.0,1.75);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,5,NULL,200.0,1.1);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,6,1.0,200.0,1.0);
CREATE TABLE "fairmill_history_point" (
    "cluster"       TEXT NOT NULL,
    "as_of"         INTEGER NOT NULL,
    "algorithm"     TEXT NOT NULL,
    "associations"  INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_history_point" VALUES('tiny',1750500000,'fair_tree',-2701683012676104897);
INSERT INTO "fairmill_history_point" VALUES('tiny',1750507200,'fair_tree',-2701683012676104897);
CREATE TABLE "fairmill_job_priority" (
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
CREATE TABLE "fairmill_ledger" (
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
INSERT INTO "fairmill_ledger" VALUES(1,'tiny',1750499900,1795382372,'root','a node failed','credit','physics','alice','',3,50,NULL,NULL);
CREATE TABLE "fairmill_ledger_reset" (
    "id"        INTEGER NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    PRIMARY KEY ("id", "id_assoc")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_lock" (
    "cluster"  TEXT NOT NULL,
    "run_id"   INTEGER NOT NULL,
    "source"   TEXT NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_lock" VALUES('',2,'');
INSERT INTO "fairmill_lock" VALUES('tiny',2,'sqlite:/srv/a.db');
CREATE TABLE "fairmill_run" (
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
INSERT INTO "fairmill_run" VALUES('tiny',1,1750500000,1795382372,3,'full','the first run','done','fair_tree','documents',0,'system',6,3,3,0.0,NULL,1700000001,50499999,NULL,NULL,'0f747178510d1f5e7cad99d9749a8549','0.1.0','host','cron','');
INSERT INTO "fairmill_run" VALUES('tiny',2,1750507200,1795382372,4,'incremental','','done','fair_tree','documents',0,'system',6,3,3,0.0,NULL,1700000001,50507199,NULL,NULL,'0f747178510d1f5e7cad99d9749a8549','0.1.0','host','cron','');
CREATE TABLE "fairmill_schema" (
    "version"  INTEGER NOT NULL,
    "made_at"  INTEGER NOT NULL,
    PRIMARY KEY ("version")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_schema" VALUES(3,1795382372);
CREATE TABLE "fairmill_seal" (
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
INSERT INTO "fairmill_seal" VALUES('tiny',1750507200,1750500000,0,1699913601,0,0,-1,-1,1700000001,0,0,'sqlite:/srv/a.db','format 2
usage.half_life = 0
usage.charge = billing
usage.tres_weights = 
usage.partition_tres_weights = 
usage.qos_factors = 
usage.partition_usage_factors = 
usage.suspended = charged
usage.horizon = none
prices 0000000000000000
time_zone system 2ce531b6f73694ae
history_days 400
grid 0
',-3122138107663957127);
CREATE TABLE "fairmill_seal_odd" (
    "cluster"  TEXT NOT NULL,
    "kind"     TEXT NOT NULL,
    "subject"  INTEGER NOT NULL,
    "time_end" INTEGER NOT NULL,
    "detail"   TEXT NOT NULL,
    PRIMARY KEY ("cluster", "kind", "subject", "time_end")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_seal_open" (
    "cluster"  TEXT NOT NULL,
    "job_key"  INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "job_key")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_seal_usage" (
    "cluster"   TEXT NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    "sum_3"     INTEGER NOT NULL,
    "sum_2"     INTEGER NOT NULL,
    "sum_1"     INTEGER NOT NULL,
    "sum_0"     INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_settings" (
    "digest"  TEXT NOT NULL,
    "text"    TEXT NOT NULL,
    PRIMARY KEY ("digest")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_settings" VALUES('0f747178510d1f5e7cad99d9749a8549','source.driver = sqlite
source.host = 
source.port = 0
source.socket = 
source.database = /srv/a.db
source.user = 
source.option_file = 
source.service = 
source.tls_mode = default
source.tls_ca = 
source.layout = slurmdbd
source.clusters = all
source.associations = associations
source.usage = usage
source.deadline = 120 s
source.max_lag = none
source.on_bad_rows = fail
results.driver = sqlite
results.host = 
results.port = 0
results.socket = 
results.database = /srv/r.db
results.user = 
results.option_file = 
results.service = 
results.tls_mode = default
results.tls_ca = 
results.share_database = no
usage.source = jobs
usage.half_life = 0
usage.reset_period = none
usage.reset_anchor = 1970-01-01
usage.time_zone = system
usage.charge = billing
usage.tres_weights = 
usage.partition_tres_weights = 
usage.qos_factors = 
usage.partition_usage_factors = 
usage.suspended = charged
usage.open_job_cap = 1-0
usage.horizon = none
usage.seal_after = 1-0
usage.full_every = 7-0
fairshare.algorithm = fair_tree
fairshare.conformance = documents
fairshare.dampening = 1
fairshare.capacity = auto
fairshare.capacity_half_lives = 2
fairshare.pbs_minimum_usage = 0
retention.history_interval = 1 h
retention.history_days = 400
retention.run_days = 90
report.private = no
report.alert_after = 0
priority.weight_age = 1
priority.weight_assoc = 1
priority.weight_fairshare = 1
priority.weight_job_size = 1
priority.weight_partition = 1
priority.weight_qos = 1
priority.weight_tres = 
priority.max_age = 7-0
priority.favor_small = no
priority.partition_factors = 
priority.flags = 
slurm.conf = 
');
CREATE TABLE "fairmill_share_change" (
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
INSERT INTO "fairmill_share_change" VALUES('tiny',1,1750500000,0,1,NULL,'','root','','',1);
INSERT INTO "fairmill_share_change" VALUES('tiny',2,1750500000,0,1,1,'root','physics','','',60);
INSERT INTO "fairmill_share_change" VALUES('tiny',3,1750500000,0,1,2,'physics','physics','alice','',10);
INSERT INTO "fairmill_share_change" VALUES('tiny',4,1750500000,0,1,2,'physics','physics','bob','',10);
INSERT INTO "fairmill_share_change" VALUES('tiny',5,1750500000,0,1,1,'root','chemistry','','',40);
INSERT INTO "fairmill_share_change" VALUES('tiny',6,1750500000,0,1,5,'chemistry','chemistry','carol','',1);
CREATE TABLE "fairmill_share_state" (
    "cluster"     TEXT NOT NULL,
    "last_as_of"  INTEGER NOT NULL,
    "hash"        INTEGER NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_share_state" VALUES('tiny',1750507200,-2701683012676104897);
CREATE TABLE "fairmill_usage_day" (
    "cluster"       TEXT NOT NULL,
    "day"           INTEGER NOT NULL,
    "id_assoc"      INTEGER NOT NULL,
    "tres_seconds"  REAL NOT NULL,
    "sum_2"         INTEGER NOT NULL,
    "sum_1"         INTEGER NOT NULL,
    "sum_0"         INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_usage_hash" (
    "cluster"  TEXT NOT NULL,
    "day"      INTEGER NOT NULL,
    "hash"     INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "day")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_usage_open" (
    "cluster"   TEXT NOT NULL,
    "day"       INTEGER NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    "sum_2"     INTEGER NOT NULL,
    "sum_1"     INTEGER NOT NULL,
    "sum_0"     INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_usage_span" (
    "cluster"     TEXT NOT NULL,
    "as_of"       INTEGER NOT NULL,
    "oldest_end"  INTEGER NOT NULL,
    "final_to"    INTEGER NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_usage_span" VALUES('tiny',1750507200,1700000001,0);
CREATE VIEW "fairmill_sshare" AS
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
CREATE VIEW "fairmill_sprio" AS
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
CREATE VIEW "fairmill_account" AS
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
CREATE VIEW "fairmill_pbsfs" AS
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
COMMIT;
