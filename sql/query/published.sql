-- SPDX-License-Identifier: MIT
--
-- Published results, for the commands that show them.

-- name: published
-- The time for which a cluster was published.
SELECT r."as_of"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
WHERE l."cluster" = ?

-- name: published_run
-- The run that published a cluster, unless it is retired.
SELECT r."run_id", r."as_of", r."started_at", r."settings_digest", r."slurm_version", r."version"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
WHERE l."cluster" = ? AND l."source" <> ''

-- name: published_clusters
-- The published clusters, and the settings of their runs.
SELECT l."cluster", r."algorithm", r."conformance", r."as_of", r."half_life", r."time_zone",
    s."text", r."slurm_version", r."usage_unit", r."associations", r."users",
    r."version"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
LEFT JOIN "fairmill_settings" s ON s."digest" = r."settings_digest"
WHERE r."status" = 'done'
ORDER BY l."cluster"

-- The next three queries return rows in the order of the ids.  A condition on the ids, if any, and
-- ORDER BY are appended to them.

-- name: published_rows
-- The associations of a cluster and their values.
SELECT "id_assoc", "parent_id", "account", "user_name", "partition_name", "shares",
    "fair_tree_rank", "fairshare_order", "tie_order", "level_fs_infinite",
    "shares_norm", "usage_raw", "usage_norm", "capacity_usage", "level_shares_norm",
    "level_usage", "classic_usage", "classic_factor", "linear_usage", "linear_factor",
    "depth_oblivious_ratio", "depth_oblivious_factor", "level_fs", "fair_tree_factor",
    "pbs_tree_usage", "pbs_factor", "depth_oblivious_usage",
    "grp_tres_mins", "tres_run_mins", "usage_is_set",
    "users_below", "first_place", "last_place", "places_interleaved"
FROM "fairmill_fairshare"
WHERE "cluster" = ?

-- name: published_tres
-- The usage of the associations of a cluster by TRES, as sshare shows it.
SELECT "id_assoc", "grp_tres_raw"
FROM "fairmill_fairshare"
WHERE "cluster" = ?

-- name: published_tres_seconds
-- The usage of the associations of a cluster by TRES, and the seconds that running jobs may still use.
SELECT v."id_assoc",
    v."tres_1", v."tres_2", v."tres_3", v."tres_4", v."tres_5", v."tres_6", v."tres_7", v."tres_8",
    v."tres_9", v."tres_10", v."tres_11", v."tres_12", v."tres_13", v."tres_14", v."tres_15", v."tres_16",
    v."running_1", v."running_2", v."running_3", v."running_4", v."running_5", v."running_6",
    v."running_7", v."running_8", v."running_9", v."running_10", v."running_11", v."running_12",
    v."running_13", v."running_14", v."running_15", v."running_16"
FROM "fairmill_value" v
WHERE v."cluster" = ?

-- The next four queries find associations by name or from other associations.  The table "n" is read
-- through an index that has all its columns; without this join, SQLite would read the whole cluster.

-- name: part_of_user
-- The associations of a user.
SELECT t."id_assoc", t."parent_id", CASE t."user_name" WHEN '' THEN 1 ELSE 0 END, t."shares"
FROM "fairmill_tree" n
JOIN "fairmill_tree" t ON t."id_assoc" = n."id_assoc"
WHERE n."cluster" = ? AND t."cluster" = ? AND n."user_name" = ?

-- name: part_of_name
-- The associations of a user with an account, or an account itself, whose user is ''.
SELECT t."id_assoc", t."parent_id", CASE t."user_name" WHEN '' THEN 1 ELSE 0 END, t."shares"
FROM "fairmill_tree" n
JOIN "fairmill_tree" t ON t."id_assoc" = n."id_assoc"
WHERE n."cluster" = ? AND t."cluster" = ? AND n."user_name" = ? AND n."account" = ?

-- name: part_above
-- The parents of associations, whose ids are appended.
SELECT t."id_assoc", t."parent_id", CASE t."user_name" WHEN '' THEN 1 ELSE 0 END, t."shares"
FROM "fairmill_tree" n
JOIN "fairmill_tree" t ON t."id_assoc" = n."parent_id"
WHERE n."cluster" = ? AND t."cluster" = ? AND n."id_assoc"

-- name: part_below
-- The children of associations, whose ids are appended.
SELECT t."id_assoc", t."parent_id", CASE t."user_name" WHEN '' THEN 1 ELSE 0 END, t."shares"
FROM "fairmill_tree" n
JOIN "fairmill_tree" t ON t."id_assoc" = n."id_assoc"
WHERE n."cluster" = ? AND t."cluster" = ? AND n."parent_id"

-- name: published_jobs
-- The pending jobs of a cluster.
SELECT "job_db_inx", "id_job", "user_name", "account", "partition_name", "qos", "best",
    "age_factor", "assoc_factor", "fairshare_factor", "job_size_factor", "partition_factor",
    "qos_factor", "age_weighted", "assoc_weighted", "fairshare_weighted", "job_size_weighted",
    "partition_weighted", "qos_weighted", "tres_factors", "tres_weighted", "site", "nice",
    "priority", "priority_norm", "job_id", "formula_value", "why", "priority_tier", "pool", "place",
    "reason", "reason_detail", "id_array_job", "id_array_task", "id_het_job", "het_job_offset",
    "cpus", "gpus", "limit_seconds", "eligible_at"
FROM "fairmill_job_priority"
WHERE "cluster" = ?

-- name: budget_read
-- The limits of a cluster.
SELECT "kind", "id", "account", "user_name", "partition_name", "qos", "tres",
    "limit_minutes", "used_minutes", "running_minutes", "left_minutes", "exhausted_at"
FROM "fairmill_budget"
WHERE "cluster" = ?

-- name: budget_paths
-- The associations of a cluster and their parents.
SELECT "id_assoc", "parent_id", "account", "user_name", "partition_name"
FROM "fairmill_tree"
WHERE "cluster" = ?
ORDER BY "id_assoc"

-- name: budget_enforced
-- TRESRunMins of the root.
SELECT "tres_run_mins" FROM "fairmill_fairshare" WHERE "cluster" = ? AND "parent_id" IS NULL

-- name: published_terms
-- The value of each name in the formula that determines the priorities of jobs on a cluster.
SELECT "job_db_inx", "name", "value"
FROM "fairmill_job_term"
WHERE "cluster" = ?

-- name: metrics_fairness
-- The fairness values of each cluster that is published and not retired.
SELECT f."cluster", f."scope", f."jain", f."use_over", f."use_under"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
JOIN "fairmill_fairness" f ON f."cluster" = l."cluster" AND f."as_of" = r."as_of"
WHERE l."source" <> ''
ORDER BY f."cluster", f."scope"

-- name: metrics_queue
-- The number of pending jobs on each cluster that is published and not retired.
SELECT l."cluster", COUNT(j."cluster")
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
LEFT JOIN "fairmill_job_priority" j ON j."cluster" = l."cluster" AND j."best" = 1
WHERE l."source" <> ''
GROUP BY l."cluster"
ORDER BY l."cluster"

-- name: metrics_tres
-- The usage of each account of a cluster by TRES.  Metrics must not need the view fairmill_tres,
-- because they report missing views.
SELECT v."id_assoc",
    v."tres_1", v."tres_2", v."tres_3", v."tres_4", v."tres_5", v."tres_6", v."tres_7", v."tres_8",
    v."tres_9", v."tres_10", v."tres_11", v."tres_12", v."tres_13", v."tres_14", v."tres_15", v."tres_16",
    v."running_1", v."running_2", v."running_3", v."running_4", v."running_5", v."running_6",
    v."running_7", v."running_8", v."running_9", v."running_10", v."running_11", v."running_12",
    v."running_13", v."running_14", v."running_15", v."running_16"
FROM "fairmill_tree" t
JOIN "fairmill_value" v ON v."cluster" = t."cluster" AND v."id_assoc" = t."id_assoc"
WHERE t."cluster" = ? AND t."user_name" = ''
ORDER BY v."id_assoc"

-- name: metrics_budget
-- The GrpTRESMins limits of a cluster.
SELECT "kind", "id", "qos", "tres", "limit_minutes", "used_minutes", "running_minutes", "left_minutes",
    "exhausted_at"
FROM "fairmill_budget"
WHERE "cluster" = ?
ORDER BY "kind", "id", "tres"
