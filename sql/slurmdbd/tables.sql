-- SPDX-License-Identifier: MIT
--
-- The accounting database of slurmdbd 26.05, in PostgreSQL or SQLite, for demonstrations, for
-- tests, and for a copy of a real one.  Tables, columns and indexes have the same names as in
-- slurmdbd.
--
-- The second half is repeated for each cluster.  The name of the cluster replaces the placeholder
-- between at signs.
--
-- Job scripts, job environments and the texts of steps are left out, because they contain user
-- input that fairshare does not need.  Licenses, federations, and usage by QOS and wckey are left
-- out, too.

CREATE TABLE "acct_coord_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} DEFAULT 0,
    "acct" TEXT NOT NULL,
    "user" TEXT NOT NULL,
    PRIMARY KEY ("acct", "user")
);
CREATE INDEX "acct_coord_user" ON "acct_coord_table" ("user");

CREATE TABLE "acct_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} DEFAULT 0,
    "flags" {integer} DEFAULT 0,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "organization" TEXT NOT NULL,
    PRIMARY KEY ("name")
);

CREATE TABLE "cluster_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} DEFAULT 0,
    "name" TEXT NOT NULL,
    "id" {integer},
    "control_host" TEXT NOT NULL DEFAULT '',
    "control_port" {integer} NOT NULL DEFAULT 0,
    "last_port" {integer} NOT NULL DEFAULT 0,
    "rpc_version" {integer} NOT NULL DEFAULT 0,
    "classification" {integer} DEFAULT 0,
    "dimensions" {integer} DEFAULT 1,
    "flags" {integer} DEFAULT 0,
    "federation" TEXT NOT NULL,
    "features" TEXT NOT NULL DEFAULT '',
    "fed_id" {integer} NOT NULL DEFAULT 0,
    "fed_state" {integer} NOT NULL,
    PRIMARY KEY ("name")
);

CREATE TABLE "convert_version_table" (
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "version" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("version")
);

CREATE TABLE "qos_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} DEFAULT 0,
    "id" {integer} PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "flags" {integer} DEFAULT 0,
    "grace_time" {integer},
    "max_jobs_pa" {integer},
    "max_jobs_per_user" {integer},
    "max_jobs_accrue_pa" {integer},
    "max_jobs_accrue_pu" {integer},
    "min_prio_thresh" {integer},
    "max_submit_jobs_pa" {integer},
    "max_submit_jobs_per_user" {integer},
    "max_tres_pa" TEXT NOT NULL DEFAULT '',
    "max_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_pn" TEXT NOT NULL DEFAULT '',
    "max_tres_pu" TEXT NOT NULL DEFAULT '',
    "max_tres_mins_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins_pa" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins_pu" TEXT NOT NULL DEFAULT '',
    "min_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_wall_duration_per_job" {integer},
    "grp_jobs" {integer},
    "grp_jobs_accrue" {integer},
    "grp_submit_jobs" {integer},
    "grp_tres" TEXT NOT NULL DEFAULT '',
    "grp_tres_mins" TEXT NOT NULL DEFAULT '',
    "grp_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "grp_wall" {integer},
    "preempt" TEXT NOT NULL DEFAULT '',
    "preempt_mode" {integer} DEFAULT 0,
    "preempt_exempt_time" {integer},
    "priority" {integer} DEFAULT 0,
    "usage_factor" {real} NOT NULL DEFAULT 1,
    "usage_thres" {real},
    "limit_factor" {real},
    UNIQUE ("name")
);

CREATE TABLE "tres_table" (
    "creation_time" {integer} NOT NULL,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "id" {integer} PRIMARY KEY,
    "type" TEXT NOT NULL,
    "name" TEXT NOT NULL DEFAULT '',
    UNIQUE ("type", "name")
);

CREATE TABLE "txn_table" (
    "deleted" {integer} NOT NULL DEFAULT 0,
    "id" {integer} PRIMARY KEY,
    "timestamp" {integer} NOT NULL DEFAULT 0,
    "action" {integer} NOT NULL,
    "name" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "cluster" TEXT NOT NULL DEFAULT '',
    "info" {bytes}
);
CREATE INDEX "txn_archive_delete" ON "txn_table" ("deleted");
CREATE INDEX "txn_archive_purge" ON "txn_table" ("timestamp", "cluster");

CREATE TABLE "user_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} DEFAULT 0,
    "name" TEXT NOT NULL,
    "admin_level" {integer} NOT NULL DEFAULT 1,
    PRIMARY KEY ("name")
);

-- For each cluster.
CREATE TABLE "@CLUSTER@_assoc_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "comment" TEXT,
    "flags" {integer} NOT NULL DEFAULT 0,
    "is_def" {integer} NOT NULL DEFAULT 0,
    "id_assoc" {integer} PRIMARY KEY,
    "user" TEXT NOT NULL DEFAULT '',
    "acct" TEXT NOT NULL,
    "partition" TEXT NOT NULL DEFAULT '',
    "parent_acct" TEXT NOT NULL DEFAULT '',
    "id_parent" {integer} NOT NULL,
    "lineage" TEXT,
    "shares" {integer} NOT NULL DEFAULT 1,
    "max_jobs" {integer},
    "max_jobs_accrue" {integer},
    "min_prio_thresh" {integer},
    "max_submit_jobs" {integer},
    "max_tres_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_pn" TEXT NOT NULL DEFAULT '',
    "max_tres_mins_pj" TEXT NOT NULL DEFAULT '',
    "max_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "max_wall_pj" {integer},
    "grp_jobs" {integer},
    "grp_jobs_accrue" {integer},
    "grp_submit_jobs" {integer},
    "grp_tres" TEXT NOT NULL DEFAULT '',
    "grp_tres_mins" TEXT NOT NULL DEFAULT '',
    "grp_tres_run_mins" TEXT NOT NULL DEFAULT '',
    "grp_wall" {integer},
    "priority" {integer},
    "def_qos_id" {integer},
    "qos" {bytes} NOT NULL DEFAULT '',
    "delta_qos" {bytes} NOT NULL DEFAULT '',
    UNIQUE ("user", "acct", "partition")
);

CREATE TABLE "@CLUSTER@_assoc_usage_day_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "id" {integer} NOT NULL,
    "id_alt" {integer} NOT NULL DEFAULT 0,
    "id_tres" {integer} NOT NULL DEFAULT 1,
    "time_start" {integer} NOT NULL,
    "alloc_secs" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_day_archive_delete" ON "@CLUSTER@_assoc_usage_day_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_day_archive_purge" ON "@CLUSTER@_assoc_usage_day_table" ("mod_time");

CREATE TABLE "@CLUSTER@_assoc_usage_hour_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "id" {integer} NOT NULL,
    "id_alt" {integer} NOT NULL DEFAULT 0,
    "id_tres" {integer} NOT NULL DEFAULT 1,
    "time_start" {integer} NOT NULL,
    "alloc_secs" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_hour_archive_delete" ON "@CLUSTER@_assoc_usage_hour_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_hour_archive_purge" ON "@CLUSTER@_assoc_usage_hour_table" ("mod_time");

CREATE TABLE "@CLUSTER@_assoc_usage_month_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "id" {integer} NOT NULL,
    "id_alt" {integer} NOT NULL DEFAULT 0,
    "id_tres" {integer} NOT NULL DEFAULT 1,
    "time_start" {integer} NOT NULL,
    "alloc_secs" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("id", "id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_assoc_usage_month_archive_delete" ON "@CLUSTER@_assoc_usage_month_table" ("deleted");
CREATE INDEX "@CLUSTER@_assoc_usage_month_archive_purge" ON "@CLUSTER@_assoc_usage_month_table" ("mod_time");

CREATE TABLE "@CLUSTER@_event_table" (
    "deleted" {integer} NOT NULL DEFAULT 0,
    "time_start" {integer} NOT NULL,
    "time_end" {integer} NOT NULL DEFAULT 0,
    "node_name" TEXT NOT NULL DEFAULT '',
    "extra" TEXT,
    "cluster_nodes" TEXT NOT NULL DEFAULT '',
    "instance_id" TEXT,
    "instance_type" TEXT,
    "reason" TEXT NOT NULL,
    "reason_uid" {integer} NOT NULL DEFAULT 4294967294,
    "state" {integer} NOT NULL DEFAULT 0,
    "tres" TEXT NOT NULL DEFAULT '',
    PRIMARY KEY ("node_name", "time_start")
);
CREATE INDEX "@CLUSTER@_event_rollup" ON "@CLUSTER@_event_table" ("time_start", "time_end", "state");
CREATE INDEX "@CLUSTER@_event_archive_delete" ON "@CLUSTER@_event_table" ("deleted");
CREATE INDEX "@CLUSTER@_event_archive_purge" ON "@CLUSTER@_event_table" ("time_end");

CREATE TABLE "@CLUSTER@_job_table" (
    "job_db_inx" {unsigned} PRIMARY KEY,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "account" TEXT,
    "admin_comment" TEXT,
    "array_task_str" TEXT,
    "array_max_tasks" {integer} NOT NULL DEFAULT 0,
    "array_task_pending" {integer} NOT NULL DEFAULT 0,
    "constraints" TEXT DEFAULT '',
    "container" TEXT,
    "cpus_req" {integer} NOT NULL,
    "derived_ec" {integer} NOT NULL DEFAULT 0,
    "derived_es" TEXT,
    "env_hash_inx" {integer} NOT NULL DEFAULT 0,
    "exclusive" TEXT,
    "exit_code" {integer} NOT NULL DEFAULT 0,
    "extra" TEXT,
    "flags" {integer} NOT NULL DEFAULT 0,
    "failed_node" TEXT,
    "job_name" TEXT NOT NULL,
    "id_assoc" {integer} NOT NULL,
    "id_array_job" {integer} NOT NULL DEFAULT 0,
    "id_array_task" {integer} NOT NULL DEFAULT 4294967294,
    "id_block" TEXT,
    "id_job" {integer} NOT NULL,
    "id_qos" {integer} NOT NULL DEFAULT 0,
    "id_resv" {integer} NOT NULL,
    "id_wckey" {integer} NOT NULL,
    "id_user" {integer} NOT NULL,
    "id_group" {integer} NOT NULL,
    "het_job_id" {integer} NOT NULL,
    "het_job_offset" {integer} NOT NULL,
    "kill_requid" {integer},
    "state_reason_prev" {integer} NOT NULL,
    "licenses" TEXT,
    "mcs_label" TEXT DEFAULT '',
    "mem_req" {unsigned} NOT NULL DEFAULT 0,
    "nodelist" TEXT,
    "nodes_alloc" {integer} NOT NULL,
    "node_inx" TEXT,
    "oversubscribe" TEXT,
    "partition" TEXT NOT NULL,
    "priority" {integer} NOT NULL,
    "qos_req" TEXT,
    "restart_cnt" {integer} DEFAULT 0,
    "resv_req" TEXT,
    "script_hash_inx" {integer} NOT NULL DEFAULT 0,
    "sluid" {unsigned} NOT NULL DEFAULT 0,
    "state" {integer} NOT NULL,
    "timelimit" {integer} NOT NULL DEFAULT 0,
    "time_submit" {integer} NOT NULL DEFAULT 0,
    "time_eligible" {integer} NOT NULL DEFAULT 0,
    "time_start" {integer} NOT NULL DEFAULT 0,
    "time_end" {integer} NOT NULL DEFAULT 0,
    "time_suspended" {integer} NOT NULL DEFAULT 0,
    "gres_used" TEXT NOT NULL DEFAULT '',
    "wckey" TEXT NOT NULL DEFAULT '',
    "work_dir" TEXT NOT NULL DEFAULT '',
    "segment_size" {integer} NOT NULL DEFAULT 0,
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
    "hourly_rollup" {integer} NOT NULL DEFAULT 0,
    "daily_rollup" {integer} NOT NULL DEFAULT 0,
    "monthly_rollup" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("hourly_rollup", "daily_rollup", "monthly_rollup")
);

CREATE TABLE "@CLUSTER@_resv_table" (
    "id_resv" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "assoclist" TEXT NOT NULL DEFAULT '',
    "flags" {integer} NOT NULL DEFAULT 0,
    "nodelist" TEXT NOT NULL DEFAULT '',
    "node_inx" TEXT NOT NULL DEFAULT '',
    "resv_name" TEXT NOT NULL,
    "time_start" {integer} NOT NULL DEFAULT 0,
    "time_end" {integer} NOT NULL DEFAULT 0,
    "time_force" {integer} NOT NULL DEFAULT 0,
    "tres" TEXT NOT NULL DEFAULT '',
    "unused_wall" {real} NOT NULL DEFAULT 0,
    "comment" TEXT,
    PRIMARY KEY ("id_resv", "time_start")
);
CREATE INDEX "@CLUSTER@_resv_archive_delete" ON "@CLUSTER@_resv_table" ("deleted");
CREATE INDEX "@CLUSTER@_resv_archive_purge" ON "@CLUSTER@_resv_table" ("time_end");

CREATE TABLE "@CLUSTER@_step_table" (
    "job_db_inx" {unsigned} NOT NULL,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "exit_code" {integer} NOT NULL DEFAULT 0,
    "id_step" {integer} NOT NULL,
    "step_het_comp" {integer} NOT NULL DEFAULT 4294967294,
    "state" {integer} NOT NULL DEFAULT 0,
    "time_start" {integer} NOT NULL DEFAULT 0,
    "time_end" {integer} NOT NULL DEFAULT 0,
    "time_suspended" {integer} NOT NULL DEFAULT 0,
    "tres_alloc" TEXT NOT NULL DEFAULT '',
    PRIMARY KEY ("job_db_inx", "id_step", "step_het_comp")
);
CREATE INDEX "@CLUSTER@_step_archive_purge" ON "@CLUSTER@_step_table" ("time_end");

CREATE TABLE "@CLUSTER@_suspend_table" (
    "deleted" {integer} NOT NULL DEFAULT 0,
    "job_db_inx" {unsigned} NOT NULL,
    "id_assoc" {integer} NOT NULL,
    "time_start" {integer} NOT NULL DEFAULT 0,
    "time_end" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("job_db_inx", "time_start")
);
CREATE INDEX "@CLUSTER@_suspend_archive_delete" ON "@CLUSTER@_suspend_table" ("deleted");
CREATE INDEX "@CLUSTER@_suspend_archive_purge" ON "@CLUSTER@_suspend_table" ("time_end");

CREATE TABLE "@CLUSTER@_usage_day_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "id_tres" {integer} NOT NULL,
    "time_start" {integer} NOT NULL,
    "count" {integer} NOT NULL DEFAULT 0,
    "alloc_secs" {integer} NOT NULL DEFAULT 0,
    "down_secs" {integer} NOT NULL DEFAULT 0,
    "pdown_secs" {integer} NOT NULL DEFAULT 0,
    "idle_secs" {integer} NOT NULL DEFAULT 0,
    "plan_secs" {integer} NOT NULL DEFAULT 0,
    "over_secs" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_day_archive_delete" ON "@CLUSTER@_usage_day_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_day_archive_purge" ON "@CLUSTER@_usage_day_table" ("mod_time");

CREATE TABLE "@CLUSTER@_usage_hour_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "id_tres" {integer} NOT NULL,
    "time_start" {integer} NOT NULL,
    "count" {integer} NOT NULL DEFAULT 0,
    "alloc_secs" {integer} NOT NULL DEFAULT 0,
    "down_secs" {integer} NOT NULL DEFAULT 0,
    "pdown_secs" {integer} NOT NULL DEFAULT 0,
    "idle_secs" {integer} NOT NULL DEFAULT 0,
    "plan_secs" {integer} NOT NULL DEFAULT 0,
    "over_secs" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_hour_archive_delete" ON "@CLUSTER@_usage_hour_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_hour_archive_purge" ON "@CLUSTER@_usage_hour_table" ("mod_time");

CREATE TABLE "@CLUSTER@_usage_month_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "id_tres" {integer} NOT NULL,
    "time_start" {integer} NOT NULL,
    "count" {integer} NOT NULL DEFAULT 0,
    "alloc_secs" {integer} NOT NULL DEFAULT 0,
    "down_secs" {integer} NOT NULL DEFAULT 0,
    "pdown_secs" {integer} NOT NULL DEFAULT 0,
    "idle_secs" {integer} NOT NULL DEFAULT 0,
    "plan_secs" {integer} NOT NULL DEFAULT 0,
    "over_secs" {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY ("id_tres", "time_start")
);
CREATE INDEX "@CLUSTER@_usage_month_archive_delete" ON "@CLUSTER@_usage_month_table" ("deleted");
CREATE INDEX "@CLUSTER@_usage_month_archive_purge" ON "@CLUSTER@_usage_month_table" ("mod_time");

CREATE TABLE "@CLUSTER@_wckey_table" (
    "creation_time" {integer} NOT NULL,
    "mod_time" {integer} NOT NULL DEFAULT 0,
    "deleted" {integer} NOT NULL DEFAULT 0,
    "is_def" {integer} NOT NULL DEFAULT 0,
    "id_wckey" {integer} PRIMARY KEY,
    "wckey_name" TEXT NOT NULL DEFAULT '',
    "user" TEXT NOT NULL,
    UNIQUE ("wckey_name", "user")
);
