-- SPDX-License-Identifier: MIT
--
-- The accounting database of slurmdbd 26.05, for SQLite: for demonstrations, for tests, and for
-- a copy of a real one.  Tables, columns and indexes have the names that slurmdbd gives them.
--
-- The second half is made once for each cluster, with its name for the placeholder between
-- at signs.
--
-- Left out are job scripts, job environments, and the texts of steps, which hold what users typed and
-- which nobody needs to know a fairshare; and licenses, federations, and usage by QOS and wckey.

CREATE TABLE "acct_coord_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER DEFAULT 0,
    "acct" TEXT NOT NULL,
    "user" TEXT NOT NULL,
    PRIMARY KEY ("acct", "user")
);
CREATE INDEX "acct_coord_user" ON "acct_coord_table" ("user");

CREATE TABLE "acct_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER DEFAULT 0,
    "flags" INTEGER DEFAULT 0,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "organization" TEXT NOT NULL,
    PRIMARY KEY ("name")
);

CREATE TABLE "cluster_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER DEFAULT 0,
    "name" TEXT NOT NULL,
    "id" INTEGER,
    "control_host" TEXT NOT NULL DEFAULT '',
    "control_port" INTEGER NOT NULL DEFAULT 0,
    "last_port" INTEGER NOT NULL DEFAULT 0,
    "rpc_version" INTEGER NOT NULL DEFAULT 0,
    "classification" INTEGER DEFAULT 0,
    "dimensions" INTEGER DEFAULT 1,
    "flags" INTEGER DEFAULT 0,
    "federation" TEXT NOT NULL,
    "features" TEXT NOT NULL DEFAULT '',
    "fed_id" INTEGER NOT NULL DEFAULT 0,
    "fed_state" INTEGER NOT NULL,
    PRIMARY KEY ("name")
);

CREATE TABLE "convert_version_table" (
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "version" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("version")
);

CREATE TABLE "qos_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER DEFAULT 0,
    "id" INTEGER PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "flags" INTEGER DEFAULT 0,
    "grace_time" INTEGER,
    "max_jobs_pa" INTEGER,
    "max_jobs_per_user" INTEGER,
    "max_jobs_accrue_pa" INTEGER,
    "max_jobs_accrue_pu" INTEGER,
    "min_prio_thresh" INTEGER,
    "max_submit_jobs_pa" INTEGER,
    "max_submit_jobs_per_user" INTEGER,
    "max_tres_pa" TEXT NOT NULL DEFAULT '',
    "max_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_pn" TEXT NOT NULL DEFAULT '',
    "max_tres_pu" TEXT NOT NULL DEFAULT '',
    "max_tres_mins_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins_pa" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins_pu" TEXT NOT NULL DEFAULT '',
    "min_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_wall_duration_per_job" INTEGER,
    "grp_jobs" INTEGER,
    "grp_jobs_accrue" INTEGER,
    "grp_submit_jobs" INTEGER,
    "grp_tres" TEXT NOT NULL DEFAULT '',
    "grp_tres_mins" TEXT NOT NULL DEFAULT '',
    "grp_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "grp_wall" INTEGER,
    "preempt" TEXT NOT NULL DEFAULT '',
    "preempt_mode" INTEGER DEFAULT 0,
    "preempt_exempt_time" INTEGER,
    "priority" INTEGER DEFAULT 0,
    "usage_factor" REAL NOT NULL DEFAULT 1,
    "usage_thres" REAL,
    "limit_factor" REAL,
    UNIQUE ("name")
);

CREATE TABLE "tres_table" (
    "creation_time" INTEGER NOT NULL,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "id" INTEGER PRIMARY KEY,
    "type" TEXT NOT NULL,
    "name" TEXT NOT NULL DEFAULT '',
    UNIQUE ("type", "name")
);

CREATE TABLE "txn_table" (
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "id" INTEGER PRIMARY KEY,
    "timestamp" INTEGER NOT NULL DEFAULT 0,
    "action" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "cluster" TEXT NOT NULL DEFAULT '',
    "info" BLOB
);
CREATE INDEX "txn_archive_delete" ON "txn_table" ("deleted");
CREATE INDEX "txn_archive_purge" ON "txn_table" ("timestamp", "cluster");

CREATE TABLE "user_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER DEFAULT 0,
    "name" TEXT NOT NULL,
    "admin_level" INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY ("name")
);

-- For each cluster.
CREATE TABLE "@CLUSTER@_assoc_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "comment" TEXT,
    "flags" INTEGER NOT NULL DEFAULT 0,
    "is_def" INTEGER NOT NULL DEFAULT 0,
    "id_assoc" INTEGER PRIMARY KEY,
    "user" TEXT NOT NULL DEFAULT '',
    "acct" TEXT NOT NULL,
    "partition" TEXT NOT NULL DEFAULT '',
    "parent_acct" TEXT NOT NULL DEFAULT '',
    "id_parent" INTEGER NOT NULL,
    "lineage" TEXT,
    "shares" INTEGER NOT NULL DEFAULT 1,
    "max_jobs" INTEGER,
    "max_jobs_accrue" INTEGER,
    "min_prio_thresh" INTEGER,
    "max_submit_jobs" INTEGER,
    "max_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_pn" TEXT NOT NULL DEFAULT '',
    "max_tres_mins_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "max_wall_pj" INTEGER,
    "grp_jobs" INTEGER,
    "grp_jobs_accrue" INTEGER,
    "grp_submit_jobs" INTEGER,
    "grp_tres" TEXT NOT NULL DEFAULT '',
    "grp_tres_mins" TEXT NOT NULL DEFAULT '',
    "grp_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "grp_wall" INTEGER,
    "priority" INTEGER,
    "def_qos_id" INTEGER,
    "qos" BLOB NOT NULL DEFAULT '',
    "delta_qos" BLOB NOT NULL DEFAULT '',
    UNIQUE ("user", "acct", "partition")
);

CREATE TABLE "@CLUSTER@_assoc_usage_day_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "id" INTEGER NOT NULL,
    "id_alt" INTEGER NOT NULL DEFAULT 0,
    "id_tres" INTEGER NOT NULL DEFAULT 1,
    "time_start" INTEGER NOT NULL,
    "alloc_secs" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_day_archive_delete" ON "@CLUSTER@_assoc_usage_day_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_day_archive_purge" ON "@CLUSTER@_assoc_usage_day_table" ("mod_time");

CREATE TABLE "@CLUSTER@_assoc_usage_hour_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "id" INTEGER NOT NULL,
    "id_alt" INTEGER NOT NULL DEFAULT 0,
    "id_tres" INTEGER NOT NULL DEFAULT 1,
    "time_start" INTEGER NOT NULL,
    "alloc_secs" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_hour_archive_delete" ON "@CLUSTER@_assoc_usage_hour_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_hour_archive_purge" ON "@CLUSTER@_assoc_usage_hour_table" ("mod_time");

CREATE TABLE "@CLUSTER@_assoc_usage_month_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "id" INTEGER NOT NULL,
    "id_alt" INTEGER NOT NULL DEFAULT 0,
    "id_tres" INTEGER NOT NULL DEFAULT 1,
    "time_start" INTEGER NOT NULL,
    "alloc_secs" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_month_archive_delete" ON "@CLUSTER@_assoc_usage_month_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_month_archive_purge" ON "@CLUSTER@_assoc_usage_month_table" ("mod_time");

CREATE TABLE "@CLUSTER@_event_table" (
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "time_start" INTEGER NOT NULL,
    "time_end" INTEGER NOT NULL DEFAULT 0,
    "node_name" TEXT NOT NULL DEFAULT '',
    "extra" TEXT,
    "cluster_nodes" TEXT NOT NULL DEFAULT '',
    "instance_id" TEXT,
    "instance_type" TEXT,
    "reason" TEXT NOT NULL,
    "reason_uid" INTEGER NOT NULL DEFAULT 4294967294,
    "state" INTEGER NOT NULL DEFAULT 0,
    "tres" TEXT NOT NULL DEFAULT '',
    PRIMARY KEY ("node_name", "time_start")
);
CREATE INDEX "@CLUSTER@_event_rollup" ON "@CLUSTER@_event_table" ("time_start", "time_end", "state");
CREATE INDEX "@CLUSTER@_event_archive_delete" ON "@CLUSTER@_event_table" ("deleted");
CREATE INDEX "@CLUSTER@_event_archive_purge" ON "@CLUSTER@_event_table" ("time_end");

CREATE TABLE "@CLUSTER@_job_table" (
    "job_db_inx" INTEGER PRIMARY KEY,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "account" TEXT,
    "admin_comment" TEXT,
    "array_task_str" TEXT,
    "array_max_tasks" INTEGER NOT NULL DEFAULT 0,
    "array_task_pending" INTEGER NOT NULL DEFAULT 0,
    "constraints" TEXT DEFAULT '',
    "container" TEXT,
    "cpus_req" INTEGER NOT NULL,
    "derived_ec" INTEGER NOT NULL DEFAULT 0,
    "derived_es" TEXT,
    "env_hash_inx" INTEGER NOT NULL DEFAULT 0,
    "exclusive" TEXT,
    "exit_code" INTEGER NOT NULL DEFAULT 0,
    "extra" TEXT,
    "flags" INTEGER NOT NULL DEFAULT 0,
    "failed_node" TEXT,
    "job_name" TEXT NOT NULL,
    "id_assoc" INTEGER NOT NULL,
    "id_array_job" INTEGER NOT NULL DEFAULT 0,
    "id_array_task" INTEGER NOT NULL DEFAULT 4294967294,
    "id_block" TEXT,
    "id_job" INTEGER NOT NULL,
    "id_qos" INTEGER NOT NULL DEFAULT 0,
    "id_resv" INTEGER NOT NULL,
    "id_wckey" INTEGER NOT NULL,
    "id_user" INTEGER NOT NULL,
    "id_group" INTEGER NOT NULL,
    "het_job_id" INTEGER NOT NULL,
    "het_job_offset" INTEGER NOT NULL,
    "kill_requid" INTEGER,
    "state_reason_prev" INTEGER NOT NULL,
    "licenses" TEXT,
    "mcs_label" TEXT DEFAULT '',
    "mem_req" INTEGER NOT NULL DEFAULT 0,
    "nodelist" TEXT,
    "nodes_alloc" INTEGER NOT NULL,
    "node_inx" TEXT,
    "oversubscribe" TEXT,
    "partition" TEXT NOT NULL,
    "priority" INTEGER NOT NULL,
    "qos_req" TEXT,
    "restart_cnt" INTEGER DEFAULT 0,
    "resv_req" TEXT,
    "script_hash_inx" INTEGER NOT NULL DEFAULT 0,
    "sluid" INTEGER NOT NULL DEFAULT 0,
    "state" INTEGER NOT NULL,
    "timelimit" INTEGER NOT NULL DEFAULT 0,
    "time_submit" INTEGER NOT NULL DEFAULT 0,
    "time_eligible" INTEGER NOT NULL DEFAULT 0,
    "time_start" INTEGER NOT NULL DEFAULT 0,
    "time_end" INTEGER NOT NULL DEFAULT 0,
    "time_suspended" INTEGER NOT NULL DEFAULT 0,
    "gres_used" TEXT NOT NULL DEFAULT '',
    "wckey" TEXT NOT NULL DEFAULT '',
    "work_dir" TEXT NOT NULL DEFAULT '',
    "segment_size" INTEGER NOT NULL DEFAULT 0,
    "std_err" TEXT NOT NULL DEFAULT '',
    "std_in" TEXT NOT NULL DEFAULT '',
    "std_out" TEXT NOT NULL DEFAULT '',
    "submit_line" TEXT,
    "system_comment" TEXT,
    "tres_alloc" TEXT NOT NULL DEFAULT '',
    "tres_req" TEXT NOT NULL DEFAULT '',
    UNIQUE ("id_job", "time_submit")
);
CREATE INDEX "@CLUSTER@_job_old_tuple" ON "@CLUSTER@_job_table" ("id_job", "id_assoc", "time_submit");
CREATE INDEX "@CLUSTER@_job_rollup" ON "@CLUSTER@_job_table" ("time_eligible", "time_end");
CREATE INDEX "@CLUSTER@_job_rollup2" ON "@CLUSTER@_job_table" ("time_end", "time_eligible");
CREATE INDEX "@CLUSTER@_job_nodes_alloc" ON "@CLUSTER@_job_table" ("nodes_alloc");
CREATE INDEX "@CLUSTER@_job_wckey" ON "@CLUSTER@_job_table" ("id_wckey");
CREATE INDEX "@CLUSTER@_job_qos" ON "@CLUSTER@_job_table" ("id_qos");
CREATE INDEX "@CLUSTER@_job_association" ON "@CLUSTER@_job_table" ("id_assoc");
CREATE INDEX "@CLUSTER@_job_array_job" ON "@CLUSTER@_job_table" ("id_array_job");
CREATE INDEX "@CLUSTER@_job_het_job" ON "@CLUSTER@_job_table" ("het_job_id");
CREATE INDEX "@CLUSTER@_job_reserv" ON "@CLUSTER@_job_table" ("id_resv");
CREATE INDEX "@CLUSTER@_job_sacct_def" ON "@CLUSTER@_job_table" ("id_user", "time_start", "time_end");
CREATE INDEX "@CLUSTER@_job_sacct_def2" ON "@CLUSTER@_job_table" ("id_user", "time_end", "time_eligible");
CREATE INDEX "@CLUSTER@_job_env_hash_inx" ON "@CLUSTER@_job_table" ("env_hash_inx");
CREATE INDEX "@CLUSTER@_job_script_hash_inx" ON "@CLUSTER@_job_table" ("script_hash_inx");
CREATE INDEX "@CLUSTER@_job_sluid" ON "@CLUSTER@_job_table" ("sluid");
CREATE INDEX "@CLUSTER@_job_archive_delete" ON "@CLUSTER@_job_table" ("deleted");
CREATE INDEX "@CLUSTER@_job_archive_purge" ON "@CLUSTER@_job_table" ("time_end");

CREATE TABLE "@CLUSTER@_last_ran_table" (
    "hourly_rollup" INTEGER NOT NULL DEFAULT 0,
    "daily_rollup" INTEGER NOT NULL DEFAULT 0,
    "monthly_rollup" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("hourly_rollup", "daily_rollup", "monthly_rollup")
);

CREATE TABLE "@CLUSTER@_resv_table" (
    "id_resv" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "assoclist" TEXT NOT NULL DEFAULT '',
    "flags" INTEGER NOT NULL DEFAULT 0,
    "nodelist" TEXT NOT NULL DEFAULT '',
    "node_inx" TEXT NOT NULL DEFAULT '',
    "resv_name" TEXT NOT NULL,
    "time_start" INTEGER NOT NULL DEFAULT 0,
    "time_end" INTEGER NOT NULL DEFAULT 0,
    "time_force" INTEGER NOT NULL DEFAULT 0,
    "tres" TEXT NOT NULL DEFAULT '',
    "unused_wall" REAL NOT NULL DEFAULT 0,
    "comment" TEXT,
    PRIMARY KEY ("id_resv", "time_start")
);
CREATE INDEX "@CLUSTER@_resv_archive_delete" ON "@CLUSTER@_resv_table" ("deleted");
CREATE INDEX "@CLUSTER@_resv_archive_purge" ON "@CLUSTER@_resv_table" ("time_end");

CREATE TABLE "@CLUSTER@_step_table" (
    "job_db_inx" INTEGER NOT NULL,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "exit_code" INTEGER NOT NULL DEFAULT 0,
    "id_step" INTEGER NOT NULL,
    "step_het_comp" INTEGER NOT NULL DEFAULT 4294967294,
    "state" INTEGER NOT NULL DEFAULT 0,
    "time_start" INTEGER NOT NULL DEFAULT 0,
    "time_end" INTEGER NOT NULL DEFAULT 0,
    "time_suspended" INTEGER NOT NULL DEFAULT 0,
    "tres_alloc" TEXT NOT NULL DEFAULT '',
    PRIMARY KEY ("job_db_inx", "id_step", "step_het_comp")
);
CREATE INDEX "@CLUSTER@_step_archive_purge" ON "@CLUSTER@_step_table" ("time_end");

CREATE TABLE "@CLUSTER@_suspend_table" (
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "job_db_inx" INTEGER NOT NULL,
    "id_assoc" INTEGER NOT NULL,
    "time_start" INTEGER NOT NULL DEFAULT 0,
    "time_end" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("job_db_inx", "time_start")
);
CREATE INDEX "@CLUSTER@_suspend_archive_delete" ON "@CLUSTER@_suspend_table" ("deleted");
CREATE INDEX "@CLUSTER@_suspend_archive_purge" ON "@CLUSTER@_suspend_table" ("time_end");

CREATE TABLE "@CLUSTER@_usage_day_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "id_tres" INTEGER NOT NULL,
    "time_start" INTEGER NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 0,
    "alloc_secs" INTEGER NOT NULL DEFAULT 0,
    "down_secs" INTEGER NOT NULL DEFAULT 0,
    "pdown_secs" INTEGER NOT NULL DEFAULT 0,
    "idle_secs" INTEGER NOT NULL DEFAULT 0,
    "plan_secs" INTEGER NOT NULL DEFAULT 0,
    "over_secs" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_day_archive_delete" ON "@CLUSTER@_usage_day_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_day_archive_purge" ON "@CLUSTER@_usage_day_table" ("mod_time");

CREATE TABLE "@CLUSTER@_usage_hour_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "id_tres" INTEGER NOT NULL,
    "time_start" INTEGER NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 0,
    "alloc_secs" INTEGER NOT NULL DEFAULT 0,
    "down_secs" INTEGER NOT NULL DEFAULT 0,
    "pdown_secs" INTEGER NOT NULL DEFAULT 0,
    "idle_secs" INTEGER NOT NULL DEFAULT 0,
    "plan_secs" INTEGER NOT NULL DEFAULT 0,
    "over_secs" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_hour_archive_delete" ON "@CLUSTER@_usage_hour_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_hour_archive_purge" ON "@CLUSTER@_usage_hour_table" ("mod_time");

CREATE TABLE "@CLUSTER@_usage_month_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "id_tres" INTEGER NOT NULL,
    "time_start" INTEGER NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 0,
    "alloc_secs" INTEGER NOT NULL DEFAULT 0,
    "down_secs" INTEGER NOT NULL DEFAULT 0,
    "pdown_secs" INTEGER NOT NULL DEFAULT 0,
    "idle_secs" INTEGER NOT NULL DEFAULT 0,
    "plan_secs" INTEGER NOT NULL DEFAULT 0,
    "over_secs" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_month_archive_delete" ON "@CLUSTER@_usage_month_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_month_archive_purge" ON "@CLUSTER@_usage_month_table" ("mod_time");

CREATE TABLE "@CLUSTER@_wckey_table" (
    "creation_time" INTEGER NOT NULL,
    "mod_time" INTEGER NOT NULL DEFAULT 0,
    "deleted" INTEGER NOT NULL DEFAULT 0,
    "is_def" INTEGER NOT NULL DEFAULT 0,
    "id_wckey" INTEGER PRIMARY KEY,
    "wckey_name" TEXT NOT NULL DEFAULT '',
    "user" TEXT NOT NULL,
    UNIQUE ("wckey_name", "user")
);
