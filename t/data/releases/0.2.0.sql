-- SPDX-License-Identifier: MIT
-- Results of fairmill 0.2.0 in SQLite: three runs and a backfill of a small site.
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
INSERT INTO "fairmill_association" VALUES('tiny',1,1750291200,NULL,'root','','');
INSERT INTO "fairmill_association" VALUES('tiny',1,1750500000,NULL,'root','','');
INSERT INTO "fairmill_association" VALUES('tiny',2,1750291200,1,'physics','','');
INSERT INTO "fairmill_association" VALUES('tiny',2,1750500000,1,'physics','','');
INSERT INTO "fairmill_association" VALUES('tiny',3,1750291200,2,'physics','alice','');
INSERT INTO "fairmill_association" VALUES('tiny',3,1750500000,2,'physics','alice','');
INSERT INTO "fairmill_association" VALUES('tiny',4,1750291200,2,'physics','bob','');
INSERT INTO "fairmill_association" VALUES('tiny',4,1750500000,2,'physics','bob','');
INSERT INTO "fairmill_association" VALUES('tiny',5,1750291200,1,'chemistry','','');
INSERT INTO "fairmill_association" VALUES('tiny',5,1750500000,1,'chemistry','','');
INSERT INTO "fairmill_association" VALUES('tiny',6,1750291200,5,'chemistry','carol','');
INSERT INTO "fairmill_association" VALUES('tiny',6,1750500000,5,'chemistry','carol','');
CREATE TABLE "fairmill_backfill" (
    "cluster"           TEXT NOT NULL,
    "as_of"             INTEGER NOT NULL,
    "truncation_bound"  REAL,
    "in_doubt"          INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_backfill" VALUES('tiny',1750291200,NULL,0);
INSERT INTO "fairmill_backfill" VALUES('tiny',1750377600,NULL,0);
INSERT INTO "fairmill_backfill" VALUES('tiny',1750464000,NULL,0);
CREATE TABLE "fairmill_fairness" (
    "cluster"      TEXT NOT NULL,
    "as_of"        INTEGER NOT NULL,
    "scope"        TEXT NOT NULL,
    "members"      INTEGER NOT NULL,
    "jain"         REAL,
    "use_over"     REAL,
    "share_over"   REAL,
    "use_under"    REAL,
    "share_under"  REAL,
    PRIMARY KEY ("cluster", "as_of", "scope")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_fairness" VALUES('tiny',1750291200,'accounts',2,0.98,6.66666666666666629659e-01,0.6,3.33333333333333314829e-01,0.4);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750291200,'users',3,8.23129251700680075742e-01,0.5,0.3,0.5,0.7);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750377600,'accounts',2,0.98,6.66666666666666629659e-01,0.6,3.33333333333333314829e-01,0.4);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750377600,'users',3,8.23129251700680075742e-01,0.5,0.3,0.5,0.7);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750464000,'accounts',2,5.1363382842033511455e-01,0.990990990990991,0.6,9.00900900900900893086e-03,0.4);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750464000,'users',3,3.4096401660264330502e-01,9.86486486486486513491e-01,0.3,1.35135135135135142636e-02,0.7);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750500000,'accounts',2,5.20445991088439252614e-01,9.8654708520179368314e-01,0.6,1.34529147982062786959e-02,0.4);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750500000,'users',3,0.34325680946865,9.82062780269058244186e-01,0.3,1.79372197309417037713e-02,0.7);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750507200,'accounts',2,8.96309615290925898456e-01,7.52862137519709317956e-01,0.6,2.47137862480290682043e-01,0.4);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750507200,'users',3,4.42074384104064854739e-01,0.749434427915267,1.99999999999999983346e-01,0.250565572084733,0.8);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750509000,'accounts',2,9.4633246845572194239e-01,7.09110867178924242359e-01,0.6,2.9088913282107575764e-01,0.4);
INSERT INTO "fairmill_fairness" VALUES('tiny',1750509000,'users',3,4.66866487661111551066e-01,7.05882352941176516303e-01,1.99999999999999983346e-01,2.94117647058823539207e-01,0.8);
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
INSERT INTO "fairmill_finding" VALUES('tiny','capacity_unknown','',1750500000,1750509000,3,'the cluster registered no TRES that is charged');
INSERT INTO "fairmill_finding" VALUES('tiny','factor_undated','3',1750509000,1750509000,1,'QOS ''high'', from 2 to 1 between 1750507200 and 1750509000');
INSERT INTO "fairmill_finding" VALUES('tiny','job_without_association','99',1750500000,1750509000,3,'no row of this id is among the associations');
CREATE TABLE "fairmill_history" (
    "cluster"    TEXT NOT NULL,
    "as_of"      INTEGER NOT NULL,
    "id_assoc"   INTEGER NOT NULL,
    "fairshare"  REAL,
    "usage_raw"  REAL,
    "level_fs"   REAL,
    PRIMARY KEY ("cluster", "as_of", "id_assoc")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_history" VALUES('tiny',1750291200,1,NULL,600.0,NULL);
INSERT INTO "fairmill_history" VALUES('tiny',1750291200,2,NULL,400.0,0.9);
INSERT INTO "fairmill_history" VALUES('tiny',1750291200,3,3.33333333333333314829e-01,300.0,6.66666666666666629659e-01);
INSERT INTO "fairmill_history" VALUES('tiny',1750291200,4,6.66666666666666629659e-01,100.0,2.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750291200,5,NULL,200.0,1.2);
INSERT INTO "fairmill_history" VALUES('tiny',1750291200,6,1.0,200.0,1.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750377600,1,NULL,600.0,NULL);
INSERT INTO "fairmill_history" VALUES('tiny',1750377600,2,NULL,400.0,0.9);
INSERT INTO "fairmill_history" VALUES('tiny',1750377600,3,3.33333333333333314829e-01,300.0,6.66666666666666629659e-01);
INSERT INTO "fairmill_history" VALUES('tiny',1750377600,4,6.66666666666666629659e-01,100.0,2.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750377600,5,NULL,200.0,1.2);
INSERT INTO "fairmill_history" VALUES('tiny',1750377600,6,1.0,200.0,1.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750464000,1,NULL,22200.0,NULL);
INSERT INTO "fairmill_history" VALUES('tiny',1750464000,2,NULL,22000.0,6.05454545454545467464e-01);
INSERT INTO "fairmill_history" VALUES('tiny',1750464000,3,3.33333333333333314829e-01,21900.0,0.502283105022831);
INSERT INTO "fairmill_history" VALUES('tiny',1750464000,4,6.66666666666666629659e-01,100.0,110.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750464000,5,NULL,200.0,44.4);
INSERT INTO "fairmill_history" VALUES('tiny',1750464000,6,1.0,200.0,1.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,1,NULL,22300.0,NULL);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,2,NULL,22000.0,6.08181818181818156787e-01);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,3,3.33333333333333314829e-01,21900.0,0.502283105022831);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,4,6.66666666666666629659e-01,100.0,110.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,5,NULL,300.0,2.97333333333333342807e+01);
INSERT INTO "fairmill_history" VALUES('tiny',1750500000,6,1.0,300.0,1.0);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,1,NULL,29174.0,NULL);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,2,NULL,21964.0,7.96958659624840692892e-01);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,3,3.33333333333333314829e-01,21864.0,3.34857909501158679255e-01);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,4,6.66666666666666629659e-01,100.0,1.46426666666666676526e+02);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,5,NULL,7210.0,1.61852981969486831026e+00);
INSERT INTO "fairmill_history" VALUES('tiny',1750507200,6,1.0,7210.0,1.0);
CREATE TABLE "fairmill_history_point" (
    "cluster"       TEXT NOT NULL,
    "as_of"         INTEGER NOT NULL,
    "algorithm"     TEXT NOT NULL,
    "associations"  INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "as_of")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_history_point" VALUES('tiny',1750291200,'fair_tree',-2701683012676104897);
INSERT INTO "fairmill_history_point" VALUES('tiny',1750377600,'fair_tree',-2701683012676104897);
INSERT INTO "fairmill_history_point" VALUES('tiny',1750464000,'fair_tree',-2701683012676104897);
INSERT INTO "fairmill_history_point" VALUES('tiny',1750500000,'fair_tree',0);
INSERT INTO "fairmill_history_point" VALUES('tiny',1750507200,'fair_tree',0);
CREATE TABLE "fairmill_job_priority" (
    "cluster"             TEXT NOT NULL,
    "job_db_inx"          TEXT NOT NULL,
    "partition_name"      TEXT NOT NULL,
    "qos"                 TEXT NOT NULL,
    "id_job"              INTEGER NOT NULL,
    "user_name"           TEXT NOT NULL,
    "account"             TEXT NOT NULL,
    "best"                INTEGER NOT NULL,
    "age_factor"          REAL,
    "fairshare_factor"    REAL,
    "job_size_factor"     REAL,
    "partition_factor"    REAL,
    "qos_factor"          REAL,
    "assoc_factor"        REAL,
    "age_weighted"        REAL,
    "fairshare_weighted"  REAL,
    "job_size_weighted"   REAL,
    "partition_weighted"  REAL,
    "qos_weighted"        REAL,
    "assoc_weighted"      REAL,
    "tres_factors"        TEXT,
    "tres_weighted"       TEXT,
    "site"                INTEGER,
    "nice"                INTEGER,
    "priority"            INTEGER,
    "priority_norm"       REAL,
    "run_id"              INTEGER NOT NULL,
    "computed_at"         INTEGER NOT NULL,
    "job_id"              TEXT,
    "formula_value"       REAL,
    "why"                 TEXT,
    PRIMARY KEY ("cluster", "job_db_inx", "partition_name", "qos")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_job_priority" VALUES('tiny','6','p','q1',7,'bob','physics',1,0.0,6.66666666666666629659e-01,0.0,0.0,0.0,0.0,0.0,6.66666666666666628791e+02,0.0,0.0,0.0,0.0,'','',NULL,NULL,0,0.0,3,1750509000,'7',NULL,NULL);
CREATE TABLE "fairmill_job_term" (
    "cluster"     TEXT NOT NULL,
    "job_db_inx"  TEXT NOT NULL,
    "name"        TEXT NOT NULL,
    "value"       REAL NOT NULL,
    PRIMARY KEY ("cluster", "job_db_inx", "name")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_kept" (
    "cluster"     TEXT NOT NULL,
    "table_name"  TEXT NOT NULL,
    "part"        INTEGER NOT NULL,
    "row_count"   INTEGER NOT NULL,
    "hash"        INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "table_name", "part")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_association',1750291200,6,-4521316487380978506);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_association',1750500000,6,-4521316487380978506);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_fairness',1750291200,2,1862303520012896619);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_fairness',1750377600,2,1862303520012896619);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_fairness',1750464000,2,-3795151761632740529);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_fairness',1750500000,2,-580391730280900976);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_fairness',1750507200,2,-7119905725331720484);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_fairness',1750509000,2,-540104147043296840);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_history',1750291200,6,-5386779748291861304);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_history',1750377600,6,-5386779748291861304);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_history',1750464000,6,4363744869625363718);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_history',1750500000,6,-4075263357963538561);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_history',1750507200,6,8026645680374318047);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_job_priority',0,1,-1116626494180530251);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_qos_change',1750500000,3,-8097955402370521602);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_qos_change',1750509000,1,397597331907831841);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_seal_slice',0,1,-5453603356844038337);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_share_change',1750500000,6,-7221305331676557616);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_share_change',1750507200,1,-3994963181372585720);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_share_state',0,1,-3125344995398981685);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_tree',0,6,-8406661123852345363);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_usage_day',1699920000,3,8044125221231920244);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_usage_day',1750377600,2,-6148732210459332610);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_usage_day',1750464000,1,6599257868650262237);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_usage_open',1750377600,2,-6148732210459332610);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_usage_open',1750464000,1,6599257868650262237);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_usage_span',0,1,-5203067253592101752);
INSERT INTO "fairmill_kept" VALUES('tiny','fairmill_value',0,6,-4471985880028335520);
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
INSERT INTO "fairmill_ledger" VALUES(1,'tiny',1750499995,1795886854,'root','a node failed','credit','physics','alice','',3,36,NULL,NULL);
INSERT INTO "fairmill_ledger" VALUES(2,'tiny',1750499990,1795886854,'root','a new term','reset','','carol','',NULL,NULL,NULL,NULL);
CREATE TABLE "fairmill_ledger_chain" (
    "id"       INTEGER NOT NULL,
    "cluster"  TEXT NOT NULL,
    "hash"     TEXT NOT NULL,
    "chain"    TEXT NOT NULL,
    PRIMARY KEY ("id")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_ledger_chain" VALUES(1,'tiny','c4bbc51cfe3fe24fcde7bda7af196608','0803e2387692cc084e5e2accadc1db1c');
INSERT INTO "fairmill_ledger_chain" VALUES(2,'tiny','d765f5d8e97de2e0b9be063e0dc15b97','c9e8f4584a99bd46700aa05cd93f80e1');
CREATE TABLE "fairmill_ledger_counted" (
    "cluster"  TEXT NOT NULL,
    "id"       INTEGER NOT NULL,
    "hash"     TEXT NOT NULL,
    PRIMARY KEY ("cluster", "id")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_ledger_counted" VALUES('tiny',1,'c4bbc51cfe3fe24fcde7bda7af196608');
INSERT INTO "fairmill_ledger_counted" VALUES('tiny',2,'d765f5d8e97de2e0b9be063e0dc15b97');
CREATE TABLE "fairmill_ledger_reset" (
    "id"        INTEGER NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    PRIMARY KEY ("id", "id_assoc")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_ledger_reset" VALUES(2,6);
CREATE TABLE "fairmill_lock" (
    "cluster"  TEXT NOT NULL,
    "run_id"   INTEGER NOT NULL,
    "source"   TEXT NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_lock" VALUES('',3,'');
INSERT INTO "fairmill_lock" VALUES('tiny',3,'sqlite:/srv/site/a.db');
CREATE TABLE "fairmill_privilege" (
    "cluster"    TEXT NOT NULL,
    "user_name"  TEXT NOT NULL,
    "account"    TEXT NOT NULL,
    "privilege"  TEXT NOT NULL,
    PRIMARY KEY ("cluster", "user_name", "account")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_privilege" VALUES('tiny','alice','physics','coordinator');
CREATE TABLE "fairmill_qos_change" (
    "cluster"       TEXT NOT NULL,
    "id_qos"        INTEGER NOT NULL,
    "as_of"         INTEGER NOT NULL,
    "told"          TEXT NOT NULL,
    "seen_before"   INTEGER,
    "run_id"        INTEGER NOT NULL,
    "name"          TEXT NOT NULL,
    "usage_factor"  REAL NOT NULL,
    PRIMARY KEY ("cluster", "id_qos", "as_of")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_qos_change" VALUES('tiny',1,1750500000,'seen',NULL,3,'q1',1.0);
INSERT INTO "fairmill_qos_change" VALUES('tiny',2,1750500000,'seen',NULL,3,'low',1.5);
INSERT INTO "fairmill_qos_change" VALUES('tiny',3,1750500000,'seen',NULL,3,'high',2.0);
INSERT INTO "fairmill_qos_change" VALUES('tiny',3,1750509000,'seen',1750507200,3,'high',1.0);
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
    "slurm_version"         TEXT,
    "usage_unit"            TEXT,
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
INSERT INTO "fairmill_run" VALUES('tiny',1,1750500000,1795886854,36,'full','the first run','done','fair_tree','documents','25.05','TRES-seconds',0,'UTC',6,3,6,10.0,NULL,1750499900,100,NULL,NULL,'111dede01ceddd8348abd23b87032bff','0.2.0','mill','root','');
INSERT INTO "fairmill_run" VALUES('tiny',2,1750507200,1795886854,33,'incremental','','done','fair_tree','documents','25.05','TRES-seconds',0,'UTC',6,3,3,10.0,NULL,1750499900,7300,NULL,NULL,'111dede01ceddd8348abd23b87032bff','0.2.0','mill','root','');
INSERT INTO "fairmill_run" VALUES('tiny',3,1750509000,1795886854,29,'full','a usage factor changed, and nothing tells when','done','fair_tree','documents','25.05','TRES-seconds',0,'UTC',6,3,6,10.0,NULL,1750499900,9100,NULL,NULL,'111dede01ceddd8348abd23b87032bff','0.2.0','mill','root','');
CREATE TABLE "fairmill_schema" (
    "version"  INTEGER NOT NULL,
    "made_at"  INTEGER NOT NULL,
    PRIMARY KEY ("version")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_schema" VALUES(8,1795886854);
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
    "checked_to"    INTEGER,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_seal" VALUES('tiny',1750509000,1750509000,0,1750373610,0,0,1700000001,1700000000,1750460010,4198110421880363586,4703856340681081523,'sqlite:/srv/site/a.db','format 3
cluster creation_time 1, id 0
usage.half_life = 0
usage.decay = exact
usage.charge = auto
usage.tres_weights = 
usage.partition_tres_weights = 
usage.qos_factors = 
usage.partition_usage_factors = 
usage.suspended = charged
usage.open_job_cap = 1-0
usage.horizon = none
time_zone UTC 2ce531b6f73694ae
history_days 9999
grid 0
prices cd01d523214cab2b
',8958341608725930583,130309973);
CREATE TABLE "fairmill_seal_odd" (
    "cluster"     TEXT NOT NULL,
    "kind"        TEXT NOT NULL,
    "subject"     INTEGER NOT NULL,
    "time_end"    INTEGER NOT NULL,
    "detail"      TEXT NOT NULL,
    "jobs"        INTEGER,
    "first_start" INTEGER,
    "last_start"  INTEGER,
    PRIMARY KEY ("cluster", "kind", "subject", "time_end")
) STRICT, WITHOUT ROWID;
CREATE TABLE "fairmill_seal_open" (
    "cluster"  TEXT NOT NULL,
    "job_key"  INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "job_key")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_seal_open" VALUES('tiny',5);
INSERT INTO "fairmill_seal_open" VALUES('tiny',6);
CREATE TABLE "fairmill_seal_slice" (
    "cluster"    TEXT NOT NULL,
    "day"        INTEGER NOT NULL,
    "row_count"  INTEGER NOT NULL,
    "hash"       INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "day")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_seal_slice" VALUES('tiny',19675,3,8151194372144283744);
CREATE TABLE "fairmill_seal_usage" (
    "cluster"   TEXT NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    "sum_3"     INTEGER NOT NULL,
    "sum_2"     INTEGER NOT NULL,
    "sum_1"     INTEGER NOT NULL,
    "sum_0"     INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_seal_usage" VALUES('tiny',3,0,0,0,314572800000000);
INSERT INTO "fairmill_seal_usage" VALUES('tiny',4,0,0,0,104857600000000);
INSERT INTO "fairmill_seal_usage" VALUES('tiny',6,0,0,0,209715200000000);
CREATE TABLE "fairmill_settings" (
    "digest"  TEXT NOT NULL,
    "text"    TEXT NOT NULL,
    PRIMARY KEY ("digest")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_settings" VALUES('111dede01ceddd8348abd23b87032bff','source.driver = sqlite
source.host = 
source.port = 0
source.socket = 
source.database = /srv/site/a.db
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
source.shares_file = 
results.driver = sqlite
results.host = 
results.port = 0
results.socket = 
results.database = /srv/site/r.db
results.user = 
results.option_file = 
results.service = 
results.tls_mode = default
results.tls_ca = 
results.share_database = no
usage.source = jobs
usage.half_life = 0
usage.decay = exact
usage.reset_period = none
usage.reset_anchor = 1970-01-01
usage.time_zone = UTC
usage.charge = auto
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
fairshare.slurm_version = auto
fairshare.ties = collation
fairshare.dampening = 1
fairshare.capacity = auto
fairshare.capacity_half_lives = 2
fairshare.pbs_minimum_usage = 0
retention.history_interval = 1 h
retention.history_days = 9999
retention.run_days = 90
report.private = usage,jobs
report.alert_after = 1 h
priority.weight_age = 100
priority.weight_assoc = 1
priority.weight_fairshare = 1000
priority.weight_job_size = 1
priority.weight_partition = 1
priority.weight_qos = 1
priority.weight_tres = 
priority.max_age = 7-0
priority.favor_small = no
priority.partition_factors = 
priority.qos_factors = 
priority.flags = 
pbs.fairshare_entity = 
pbs.fairshare_usage_res = 
pbs.unknown_shares = 
pbs.fairshare_enforce_no_shares = 
pbs.fairshare_decay_time = 
pbs.fairshare_decay_factor = 
pbs.job_sort_formula = 
pbs.job_sort_formula_threshold = 
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
    "modified"        INTEGER,
    "seen_before"     INTEGER,
    PRIMARY KEY ("cluster", "id_assoc", "as_of")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_share_change" VALUES('tiny',1,1750500000,0,1,NULL,'','root','','',1,1,NULL);
INSERT INTO "fairmill_share_change" VALUES('tiny',2,1750500000,0,1,1,'root','physics','','',60,1,NULL);
INSERT INTO "fairmill_share_change" VALUES('tiny',3,1750500000,0,1,2,'physics','physics','alice','',10,1,NULL);
INSERT INTO "fairmill_share_change" VALUES('tiny',4,1750500000,0,1,2,'physics','physics','bob','',10,1,NULL);
INSERT INTO "fairmill_share_change" VALUES('tiny',4,1750507200,0,2,2,'physics','physics','bob','',20,1750500060,1750500000);
INSERT INTO "fairmill_share_change" VALUES('tiny',5,1750500000,0,1,1,'root','chemistry','','',40,1,NULL);
INSERT INTO "fairmill_share_change" VALUES('tiny',6,1750500000,0,1,5,'chemistry','chemistry','carol','',1,1,NULL);
CREATE TABLE "fairmill_share_state" (
    "cluster"     TEXT NOT NULL,
    "last_as_of"  INTEGER NOT NULL,
    "hash"        INTEGER NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_share_state" VALUES('tiny',1750509000,2285227783416788878);
CREATE TABLE "fairmill_tree" (
    "cluster"            TEXT NOT NULL,
    "id_assoc"           INTEGER NOT NULL,
    "parent_id"          INTEGER,
    "depth"              INTEGER NOT NULL,
    "account"            TEXT NOT NULL,
    "user_name"          TEXT NOT NULL,
    "partition_name"     TEXT NOT NULL,
    "shares"             INTEGER,
    "shares_norm"        REAL,
    "level_shares_norm"  REAL,
    "tie_order"          INTEGER,
    "grp_tres_mins"      TEXT,
    "pbs_own"            INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "id_assoc")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_tree" VALUES('tiny',1,NULL,0,'root','','',1,1.0,NULL,NULL,NULL,0);
INSERT INTO "fairmill_tree" VALUES('tiny',2,1,1,'physics','','',60,0.6,0.6,NULL,NULL,0);
INSERT INTO "fairmill_tree" VALUES('tiny',3,2,2,'physics','alice','',10,1.99999999999999983346e-01,3.33333333333333314829e-01,NULL,NULL,0);
INSERT INTO "fairmill_tree" VALUES('tiny',4,2,2,'physics','bob','',20,3.99999999999999966693e-01,6.66666666666666629659e-01,NULL,NULL,0);
INSERT INTO "fairmill_tree" VALUES('tiny',5,1,1,'chemistry','','',40,0.4,0.4,NULL,NULL,0);
INSERT INTO "fairmill_tree" VALUES('tiny',6,5,2,'chemistry','carol','',1,0.4,1.0,NULL,NULL,0);
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
INSERT INTO "fairmill_usage_day" VALUES('tiny',1699920000,3,300.0,0,0,314572800000000);
INSERT INTO "fairmill_usage_day" VALUES('tiny',1699920000,4,100.0,0,0,104857600000000);
INSERT INTO "fairmill_usage_day" VALUES('tiny',1699920000,6,200.0,0,0,209715200000000);
INSERT INTO "fairmill_usage_day" VALUES('tiny',1750377600,3,21600.0,0,0,22649241600000000);
INSERT INTO "fairmill_usage_day" VALUES('tiny',1750377600,99,10.0,0,0,10485760000000);
INSERT INTO "fairmill_usage_day" VALUES('tiny',1750464000,6,9100.0,0,0,9542041600000000);
CREATE TABLE "fairmill_usage_open" (
    "cluster"   TEXT NOT NULL,
    "day"       INTEGER NOT NULL,
    "id_assoc"  INTEGER NOT NULL,
    "sum_2"     INTEGER NOT NULL,
    "sum_1"     INTEGER NOT NULL,
    "sum_0"     INTEGER NOT NULL,
    PRIMARY KEY ("cluster", "day", "id_assoc")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_usage_open" VALUES('tiny',1750377600,3,0,0,22649241600000000);
INSERT INTO "fairmill_usage_open" VALUES('tiny',1750377600,99,0,0,10485760000000);
INSERT INTO "fairmill_usage_open" VALUES('tiny',1750464000,6,0,0,9542041600000000);
CREATE TABLE "fairmill_usage_span" (
    "cluster"     TEXT NOT NULL,
    "as_of"       INTEGER NOT NULL,
    "oldest_end"  INTEGER NOT NULL,
    "final_to"    INTEGER NOT NULL,
    PRIMARY KEY ("cluster")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_usage_span" VALUES('tiny',1750509000,1700000001,0);
CREATE TABLE "fairmill_value" (
    "cluster"                 TEXT NOT NULL,
    "id_assoc"                INTEGER NOT NULL,
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
    "depth_oblivious_usage"   REAL,
    "level_fs"                REAL,
    "fair_tree_rank"          INTEGER,
    "pbs_tree_usage"          REAL,
    "pbs_factor"              REAL,
    "fairshare_order"         INTEGER,
    "pbs_order"               INTEGER,
    "tres_run_mins"           TEXT,
    PRIMARY KEY ("cluster", "id_assoc")
) STRICT, WITHOUT ROWID;
INSERT INTO "fairmill_value" VALUES('tiny',1,30974.0,1.0,NULL,NULL,1.0,NULL,NULL,NULL,NULL,NULL,1.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "fairmill_value" VALUES('tiny',2,21964.0,7.09110867178924242359e-01,NULL,7.09110867178924242359e-01,7.09110867178924242359e-01,4.40785464416344252569e-01,NULL,NULL,1.18185144529820718162e+00,4.40785464416344252569e-01,NULL,8.46130030959752366115e-01,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "fairmill_value" VALUES('tiny',3,21864.0,7.05882352941176516303e-01,NULL,9.95447095246767443832e-01,0.706958524353759,8.628223621831963841e-02,NULL,NULL,3.52941176470588224844e+00,8.66046461862934463526e-02,NULL,3.34857909501158679255e-01,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "fairmill_value" VALUES('tiny',4,100.0,3.22851423774778850672e-03,NULL,4.5529047532325622391e-03,4.73816749531865366584e-01,4.39964225921005591679e-01,NULL,NULL,0.0626760974646562,0.957486401376324,NULL,1.46426666666666676526e+02,2,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "fairmill_value" VALUES('tiny',5,9010.0,2.9088913282107575764e-01,NULL,2.9088913282107575764e-01,2.9088913282107575764e-01,6.04065613287763203409e-01,NULL,NULL,7.27222832052689338588e-01,6.04065613287763203409e-01,NULL,1.37509433962264160378e+00,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "fairmill_value" VALUES('tiny',6,9010.0,2.9088913282107575764e-01,NULL,1.0,2.9088913282107575764e-01,6.04065613287763203409e-01,NULL,NULL,7.27222832052689338588e-01,6.04065613287763203409e-01,NULL,1.0,3,NULL,NULL,NULL,NULL,NULL);
CREATE VIEW "fairmill_fairshare" AS
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
    END AS INTEGER) AS "level_fs_infinite",
    v."fair_tree_rank" AS "fair_tree_rank",
    CAST(v."fair_tree_rank" AS REAL) / NULLIF(r."users", 0) AS "fair_tree_factor",
    t."shares_norm" AS "pbs_target",
    CASE t."pbs_own" WHEN 1 THEN v."pbs_tree_usage" ELSE v."classic_usage" END AS "pbs_tree_usage",
    CASE t."pbs_own" WHEN 1 THEN v."pbs_factor" ELSE v."classic_factor" END AS "pbs_factor",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN CAST(v."fair_tree_rank" AS REAL) / NULLIF(r."users", 0)
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
        ELSE COALESCE(f."depth_oblivious_usage", f."depth_oblivious_ratio" * f."shares_norm")
    END AS "effectvusage",
    f."fairshare" AS "fairshare",
    CASE r."algorithm" WHEN 'fair_tree' THEN f."level_fs" END AS "levelfs",
    f."grp_tres_mins" AS "grptresmins",
    f."tres_run_mins" AS "tresrunmins"
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
CREATE VIEW "fairmill_account_history" AS
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
CREATE VIEW "fairmill_account_day" AS
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
CREATE VIEW "fairmill_waiting" AS
SELECT
    j."cluster" AS "cluster",
    j."partition_name" AS "partition",
    COUNT(*) AS "jobs",
    MAX(j."priority") AS "highest",
    MIN(j."priority") AS "lowest"
FROM "fairmill_job_priority" j
WHERE j."best" = 1
GROUP BY j."cluster", j."partition_name";
CREATE VIEW "fairmill_account_waiting" AS
SELECT
    j."cluster" AS "cluster",
    j."account" AS "account",
    COUNT(*) AS "jobs",
    MAX(j."priority") AS "highest",
    MIN(j."priority") AS "lowest"
FROM "fairmill_job_priority" j
WHERE j."best" = 1
GROUP BY j."cluster", j."account";
CREATE VIEW "fairmill_findings" AS
SELECT
    f."cluster" AS "cluster",
    f."kind" AS "kind",
    COUNT(*) AS "findings",
    MIN(f."first_seen") AS "first_seen",
    MAX(f."last_seen") AS "last_seen"
FROM "fairmill_finding" f
GROUP BY f."cluster", f."kind";
CREATE VIEW "fairmill_runs" AS
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
CREATE VIEW "fairmill_pbsfs" AS
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
COMMIT;
