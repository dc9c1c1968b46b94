-- SPDX-License-Identifier: MIT
--
-- The accounting database of slurmdbd 26.05, for PostgreSQL: for tests, and for a copy of a real
-- one.  Tables, columns and indexes have the names that slurmdbd gives them; what has 64 bits
-- without a sign there is NUMERIC(20) here.
--
-- The second half is made once for each cluster, with its name for the placeholder between
-- at signs.
--
-- Left out are job scripts, job environments, and the texts of steps, which hold what users typed and
-- which nobody needs to know a fairshare; and licenses, federations, and usage by QOS and wckey.

CREATE TABLE "acct_coord_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT DEFAULT 0,
    "acct" TEXT NOT NULL,
    "user" TEXT NOT NULL,
    PRIMARY KEY ("acct", "user")
);
CREATE INDEX "acct_coord_user" ON "acct_coord_table" ("user");

CREATE TABLE "acct_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT DEFAULT 0,
    "flags" BIGINT DEFAULT 0,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "organization" TEXT NOT NULL,
    PRIMARY KEY ("name")
);

CREATE TABLE "cluster_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT DEFAULT 0,
    "name" TEXT NOT NULL,
    "id" BIGINT,
    "control_host" TEXT NOT NULL DEFAULT '',
    "control_port" BIGINT NOT NULL DEFAULT 0,
    "last_port" BIGINT NOT NULL DEFAULT 0,
    "rpc_version" BIGINT NOT NULL DEFAULT 0,
    "classification" BIGINT DEFAULT 0,
    "dimensions" BIGINT DEFAULT 1,
    "flags" BIGINT DEFAULT 0,
    "federation" TEXT NOT NULL,
    "features" TEXT NOT NULL DEFAULT '',
    "fed_id" BIGINT NOT NULL DEFAULT 0,
    "fed_state" BIGINT NOT NULL,
    PRIMARY KEY ("name")
);

CREATE TABLE "convert_version_table" (
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "version" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("version")
);

CREATE TABLE "qos_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT DEFAULT 0,
    "id" BIGINT PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "flags" BIGINT DEFAULT 0,
    "grace_time" BIGINT,
    "max_jobs_pa" BIGINT,
    "max_jobs_per_user" BIGINT,
    "max_jobs_accrue_pa" BIGINT,
    "max_jobs_accrue_pu" BIGINT,
    "min_prio_thresh" BIGINT,
    "max_submit_jobs_pa" BIGINT,
    "max_submit_jobs_per_user" BIGINT,
    "max_tres_pa" TEXT NOT NULL DEFAULT '',
    "max_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_pn" TEXT NOT NULL DEFAULT '',
    "max_tres_pu" TEXT NOT NULL DEFAULT '',
    "max_tres_mins_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins_pa" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins_pu" TEXT NOT NULL DEFAULT '',
    "min_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_wall_duration_per_job" BIGINT,
    "grp_jobs" BIGINT,
    "grp_jobs_accrue" BIGINT,
    "grp_submit_jobs" BIGINT,
    "grp_tres" TEXT NOT NULL DEFAULT '',
    "grp_tres_mins" TEXT NOT NULL DEFAULT '',
    "grp_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "grp_wall" BIGINT,
    "preempt" TEXT NOT NULL DEFAULT '',
    "preempt_mode" BIGINT DEFAULT 0,
    "preempt_exempt_time" BIGINT,
    "priority" BIGINT DEFAULT 0,
    "usage_factor" DOUBLE PRECISION NOT NULL DEFAULT 1,
    "usage_thres" DOUBLE PRECISION,
    "limit_factor" DOUBLE PRECISION,
    UNIQUE ("name")
);

CREATE TABLE "tres_table" (
    "creation_time" BIGINT NOT NULL,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "id" BIGINT PRIMARY KEY,
    "type" TEXT NOT NULL,
    "name" TEXT NOT NULL DEFAULT '',
    UNIQUE ("type", "name")
);

CREATE TABLE "txn_table" (
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "id" BIGINT PRIMARY KEY,
    "timestamp" BIGINT NOT NULL DEFAULT 0,
    "action" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "cluster" TEXT NOT NULL DEFAULT '',
    "info" BYTEA
);
CREATE INDEX "txn_archive_delete" ON "txn_table" ("deleted");
CREATE INDEX "txn_archive_purge" ON "txn_table" ("timestamp", "cluster");

CREATE TABLE "user_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT DEFAULT 0,
    "name" TEXT NOT NULL,
    "admin_level" BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY ("name")
);

-- For each cluster.
CREATE TABLE "@CLUSTER@_assoc_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "comment" TEXT,
    "flags" BIGINT NOT NULL DEFAULT 0,
    "is_def" BIGINT NOT NULL DEFAULT 0,
    "id_assoc" BIGINT PRIMARY KEY,
    "user" TEXT NOT NULL DEFAULT '',
    "acct" TEXT NOT NULL,
    "partition" TEXT NOT NULL DEFAULT '',
    "parent_acct" TEXT NOT NULL DEFAULT '',
    "id_parent" BIGINT NOT NULL,
    "lineage" TEXT,
    "shares" BIGINT NOT NULL DEFAULT 1,
    "max_jobs" BIGINT,
    "max_jobs_accrue" BIGINT,
    "min_prio_thresh" BIGINT,
    "max_submit_jobs" BIGINT,
    "max_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_pn" TEXT NOT NULL DEFAULT '',
    "max_tres_mins_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "max_wall_pj" BIGINT,
    "grp_jobs" BIGINT,
    "grp_jobs_accrue" BIGINT,
    "grp_submit_jobs" BIGINT,
    "grp_tres" TEXT NOT NULL DEFAULT '',
    "grp_tres_mins" TEXT NOT NULL DEFAULT '',
    "grp_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "grp_wall" BIGINT,
    "priority" BIGINT,
    "def_qos_id" BIGINT,
    "qos" BYTEA NOT NULL DEFAULT '',
    "delta_qos" BYTEA NOT NULL DEFAULT '',
    UNIQUE ("user", "acct", "partition")
);

CREATE TABLE "@CLUSTER@_assoc_usage_day_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "id" BIGINT NOT NULL,
    "id_alt" BIGINT NOT NULL DEFAULT 0,
    "id_tres" BIGINT NOT NULL DEFAULT 1,
    "time_start" BIGINT NOT NULL,
    "alloc_secs" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_day_archive_delete" ON "@CLUSTER@_assoc_usage_day_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_day_archive_purge" ON "@CLUSTER@_assoc_usage_day_table" ("mod_time");

CREATE TABLE "@CLUSTER@_assoc_usage_hour_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "id" BIGINT NOT NULL,
    "id_alt" BIGINT NOT NULL DEFAULT 0,
    "id_tres" BIGINT NOT NULL DEFAULT 1,
    "time_start" BIGINT NOT NULL,
    "alloc_secs" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_hour_archive_delete" ON "@CLUSTER@_assoc_usage_hour_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_hour_archive_purge" ON "@CLUSTER@_assoc_usage_hour_table" ("mod_time");

CREATE TABLE "@CLUSTER@_assoc_usage_month_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "id" BIGINT NOT NULL,
    "id_alt" BIGINT NOT NULL DEFAULT 0,
    "id_tres" BIGINT NOT NULL DEFAULT 1,
    "time_start" BIGINT NOT NULL,
    "alloc_secs" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_month_archive_delete" ON "@CLUSTER@_assoc_usage_month_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_month_archive_purge" ON "@CLUSTER@_assoc_usage_month_table" ("mod_time");

CREATE TABLE "@CLUSTER@_event_table" (
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "time_start" BIGINT NOT NULL,
    "time_end" BIGINT NOT NULL DEFAULT 0,
    "node_name" TEXT NOT NULL DEFAULT '',
    "extra" TEXT,
    "cluster_nodes" TEXT NOT NULL DEFAULT '',
    "instance_id" TEXT,
    "instance_type" TEXT,
    "reason" TEXT NOT NULL,
    "reason_uid" BIGINT NOT NULL DEFAULT 4294967294,
    "state" BIGINT NOT NULL DEFAULT 0,
    "tres" TEXT NOT NULL DEFAULT '',
    PRIMARY KEY ("node_name", "time_start")
);
CREATE INDEX "@CLUSTER@_event_rollup" ON "@CLUSTER@_event_table" ("time_start", "time_end", "state");
CREATE INDEX "@CLUSTER@_event_archive_delete" ON "@CLUSTER@_event_table" ("deleted");
CREATE INDEX "@CLUSTER@_event_archive_purge" ON "@CLUSTER@_event_table" ("time_end");

CREATE TABLE "@CLUSTER@_job_table" (
    "job_db_inx" NUMERIC(20) PRIMARY KEY,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "account" TEXT,
    "admin_comment" TEXT,
    "array_task_str" TEXT,
    "array_max_tasks" BIGINT NOT NULL DEFAULT 0,
    "array_task_pending" BIGINT NOT NULL DEFAULT 0,
    "constraints" TEXT DEFAULT '',
    "container" TEXT,
    "cpus_req" BIGINT NOT NULL,
    "derived_ec" BIGINT NOT NULL DEFAULT 0,
    "derived_es" TEXT,
    "env_hash_inx" BIGINT NOT NULL DEFAULT 0,
    "exclusive" TEXT,
    "exit_code" BIGINT NOT NULL DEFAULT 0,
    "extra" TEXT,
    "flags" BIGINT NOT NULL DEFAULT 0,
    "failed_node" TEXT,
    "job_name" TEXT NOT NULL,
    "id_assoc" BIGINT NOT NULL,
    "id_array_job" BIGINT NOT NULL DEFAULT 0,
    "id_array_task" BIGINT NOT NULL DEFAULT 4294967294,
    "id_block" TEXT,
    "id_job" BIGINT NOT NULL,
    "id_qos" BIGINT NOT NULL DEFAULT 0,
    "id_resv" BIGINT NOT NULL,
    "id_wckey" BIGINT NOT NULL,
    "id_user" BIGINT NOT NULL,
    "id_group" BIGINT NOT NULL,
    "het_job_id" BIGINT NOT NULL,
    "het_job_offset" BIGINT NOT NULL,
    "kill_requid" BIGINT,
    "state_reason_prev" BIGINT NOT NULL,
    "licenses" TEXT,
    "mcs_label" TEXT DEFAULT '',
    "mem_req" NUMERIC(20) NOT NULL DEFAULT 0,
    "nodelist" TEXT,
    "nodes_alloc" BIGINT NOT NULL,
    "node_inx" TEXT,
    "oversubscribe" TEXT,
    "partition" TEXT NOT NULL,
    "priority" BIGINT NOT NULL,
    "qos_req" TEXT,
    "restart_cnt" BIGINT DEFAULT 0,
    "resv_req" TEXT,
    "script_hash_inx" BIGINT NOT NULL DEFAULT 0,
    "sluid" NUMERIC(20) NOT NULL DEFAULT 0,
    "state" BIGINT NOT NULL,
    "timelimit" BIGINT NOT NULL DEFAULT 0,
    "time_submit" BIGINT NOT NULL DEFAULT 0,
    "time_eligible" BIGINT NOT NULL DEFAULT 0,
    "time_start" BIGINT NOT NULL DEFAULT 0,
    "time_end" BIGINT NOT NULL DEFAULT 0,
    "time_suspended" BIGINT NOT NULL DEFAULT 0,
    "gres_used" TEXT NOT NULL DEFAULT '',
    "wckey" TEXT NOT NULL DEFAULT '',
    "work_dir" TEXT NOT NULL DEFAULT '',
    "segment_size" BIGINT NOT NULL DEFAULT 0,
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
    "hourly_rollup" BIGINT NOT NULL DEFAULT 0,
    "daily_rollup" BIGINT NOT NULL DEFAULT 0,
    "monthly_rollup" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("hourly_rollup", "daily_rollup", "monthly_rollup")
);

CREATE TABLE "@CLUSTER@_resv_table" (
    "id_resv" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "assoclist" TEXT NOT NULL DEFAULT '',
    "flags" BIGINT NOT NULL DEFAULT 0,
    "nodelist" TEXT NOT NULL DEFAULT '',
    "node_inx" TEXT NOT NULL DEFAULT '',
    "resv_name" TEXT NOT NULL,
    "time_start" BIGINT NOT NULL DEFAULT 0,
    "time_end" BIGINT NOT NULL DEFAULT 0,
    "time_force" BIGINT NOT NULL DEFAULT 0,
    "tres" TEXT NOT NULL DEFAULT '',
    "unused_wall" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "comment" TEXT,
    PRIMARY KEY ("id_resv", "time_start")
);
CREATE INDEX "@CLUSTER@_resv_archive_delete" ON "@CLUSTER@_resv_table" ("deleted");
CREATE INDEX "@CLUSTER@_resv_archive_purge" ON "@CLUSTER@_resv_table" ("time_end");

CREATE TABLE "@CLUSTER@_step_table" (
    "job_db_inx" NUMERIC(20) NOT NULL,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "exit_code" BIGINT NOT NULL DEFAULT 0,
    "id_step" BIGINT NOT NULL,
    "step_het_comp" BIGINT NOT NULL DEFAULT 4294967294,
    "state" BIGINT NOT NULL DEFAULT 0,
    "time_start" BIGINT NOT NULL DEFAULT 0,
    "time_end" BIGINT NOT NULL DEFAULT 0,
    "time_suspended" BIGINT NOT NULL DEFAULT 0,
    "tres_alloc" TEXT NOT NULL DEFAULT '',
    PRIMARY KEY ("job_db_inx", "id_step", "step_het_comp")
);
CREATE INDEX "@CLUSTER@_step_archive_purge" ON "@CLUSTER@_step_table" ("time_end");

CREATE TABLE "@CLUSTER@_suspend_table" (
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "job_db_inx" NUMERIC(20) NOT NULL,
    "id_assoc" BIGINT NOT NULL,
    "time_start" BIGINT NOT NULL DEFAULT 0,
    "time_end" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("job_db_inx", "time_start")
);
CREATE INDEX "@CLUSTER@_suspend_archive_delete" ON "@CLUSTER@_suspend_table" ("deleted");
CREATE INDEX "@CLUSTER@_suspend_archive_purge" ON "@CLUSTER@_suspend_table" ("time_end");

CREATE TABLE "@CLUSTER@_usage_day_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "id_tres" BIGINT NOT NULL,
    "time_start" BIGINT NOT NULL,
    "count" BIGINT NOT NULL DEFAULT 0,
    "alloc_secs" BIGINT NOT NULL DEFAULT 0,
    "down_secs" BIGINT NOT NULL DEFAULT 0,
    "pdown_secs" BIGINT NOT NULL DEFAULT 0,
    "idle_secs" BIGINT NOT NULL DEFAULT 0,
    "plan_secs" BIGINT NOT NULL DEFAULT 0,
    "over_secs" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_day_archive_delete" ON "@CLUSTER@_usage_day_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_day_archive_purge" ON "@CLUSTER@_usage_day_table" ("mod_time");

CREATE TABLE "@CLUSTER@_usage_hour_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "id_tres" BIGINT NOT NULL,
    "time_start" BIGINT NOT NULL,
    "count" BIGINT NOT NULL DEFAULT 0,
    "alloc_secs" BIGINT NOT NULL DEFAULT 0,
    "down_secs" BIGINT NOT NULL DEFAULT 0,
    "pdown_secs" BIGINT NOT NULL DEFAULT 0,
    "idle_secs" BIGINT NOT NULL DEFAULT 0,
    "plan_secs" BIGINT NOT NULL DEFAULT 0,
    "over_secs" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_hour_archive_delete" ON "@CLUSTER@_usage_hour_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_hour_archive_purge" ON "@CLUSTER@_usage_hour_table" ("mod_time");

CREATE TABLE "@CLUSTER@_usage_month_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "id_tres" BIGINT NOT NULL,
    "time_start" BIGINT NOT NULL,
    "count" BIGINT NOT NULL DEFAULT 0,
    "alloc_secs" BIGINT NOT NULL DEFAULT 0,
    "down_secs" BIGINT NOT NULL DEFAULT 0,
    "pdown_secs" BIGINT NOT NULL DEFAULT 0,
    "idle_secs" BIGINT NOT NULL DEFAULT 0,
    "plan_secs" BIGINT NOT NULL DEFAULT 0,
    "over_secs" BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_month_archive_delete" ON "@CLUSTER@_usage_month_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_month_archive_purge" ON "@CLUSTER@_usage_month_table" ("mod_time");

CREATE TABLE "@CLUSTER@_wckey_table" (
    "creation_time" BIGINT NOT NULL,
    "mod_time" BIGINT NOT NULL DEFAULT 0,
    "deleted" BIGINT NOT NULL DEFAULT 0,
    "is_def" BIGINT NOT NULL DEFAULT 0,
    "id_wckey" BIGINT PRIMARY KEY,
    "wckey_name" TEXT NOT NULL DEFAULT '',
    "user" TEXT NOT NULL,
    UNIQUE ("wckey_name", "user")
);
