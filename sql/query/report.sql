-- SPDX-License-Identifier: MIT
--
-- What is published, for the report.

-- name: report_clusters
-- The clusters that are published, and what the runs went by.
SELECT l."cluster", r."algorithm", r."as_of", r."half_life", r."time_zone"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
WHERE r."status" = 'done'
ORDER BY l."cluster"

-- name: report_rows
-- A cluster's tree in sshare's columns, parents first.
SELECT f."id_assoc", f."parent_id", f."account", f."user_name", f."partition_name", f."shares",
    s."normshares", s."rawusage", s."effectvusage", s."fairshare", s."levelfs"
FROM "fairmill_fairshare" f
JOIN "fairmill_sshare" s ON s."cluster" = f."cluster" AND s."id_assoc" = f."id_assoc"
WHERE f."cluster" = ?
ORDER BY f."depth", f."id_assoc"

-- name: report_jobs
-- The jobs that waited on a cluster, the highest priority first.
SELECT "id_job", "user_name", "account", "partition_name", "qos", "priority", "age_weighted",
    "assoc_weighted", "fairshare_weighted", "job_size_weighted", "partition_weighted",
    "qos_weighted", "tres_weighted", "site", "nice"
FROM "fairmill_job_priority"
WHERE "cluster" = ? AND "best" = 1
ORDER BY "priority" DESC, "id_job"

-- name: report_points
-- The points of a span.
SELECT "as_of", "algorithm"
FROM "fairmill_history_point"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?
ORDER BY "as_of"

-- name: report_point_values
-- All associations at a point.
SELECT "id_assoc", "fairshare", "usage_raw", "level_fs"
FROM "fairmill_history"
WHERE "cluster" = ? AND "as_of" = ?
