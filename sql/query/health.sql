-- SPDX-License-Identifier: MIT
--
-- The health of clusters.

-- name: health
-- For each cluster, the published run (r), the last run (t), and the last run that compared the
-- checkpoint's sums with all jobs (d).
SELECT l."cluster", l."run_id", l."source", r."as_of", r."duration_ms", r."source_lag", r."associations",
    t."run_id", t."status", t."as_of", t."started_at", t."message", t."settings_digest",
    d."as_of", d."drift_max", d."drifted_associations", r."os_user", t."os_user"
FROM "fairmill_lock" l
LEFT JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
LEFT JOIN "fairmill_run" t ON t."cluster" = l."cluster" AND t."run_id" =
    (SELECT MAX(m."run_id") FROM "fairmill_run" m WHERE m."cluster" = l."cluster")
LEFT JOIN "fairmill_run" d ON d."cluster" = l."cluster" AND d."run_id" =
    (SELECT n."run_id" FROM "fairmill_run" n
     WHERE n."cluster" = l."cluster" AND n."status" = 'done' AND n."drift_max" IS NOT NULL
     ORDER BY n."run_id" DESC
     LIMIT 1)
WHERE l."cluster" <> ''
ORDER BY l."cluster"

-- name: health_findings
-- The number of findings of each kind from the published run of each cluster.  Findings of the kind
-- in the argument are included even if they are from an earlier run.
SELECT f."cluster", f."kind", COUNT(*)
FROM "fairmill_finding" f
LEFT JOIN "fairmill_lock" l ON l."cluster" = f."cluster"
LEFT JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
WHERE f."last_seen" = r."as_of" OR f."kind" = ?
GROUP BY f."cluster", f."kind"
ORDER BY f."cluster", f."kind"

-- name: health_failure
-- The error of the last run that failed before it reached a cluster.
SELECT "message" FROM "fairmill_run" WHERE "cluster" = '' ORDER BY "run_id" DESC LIMIT 1

-- name: views_open
-- Returns no rows, but the database opens all views with the privileges of their definers.
SELECT 1 FROM "fairmill_fairshare" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_sshare" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_sprio" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_account" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_account_history" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_account_day" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_account_tres_day" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_tres" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_tres_day" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_wait_day" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_partition_wait_day" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_waiting" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_account_waiting" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_findings" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_runs" WHERE 1 = 0
UNION ALL SELECT 1 FROM "fairmill_pbsfs" WHERE 1 = 0

-- name: views_count
-- The number of associations of a cluster, up to an id, that users find in the view
-- fairmill_sshare.  That view reads the view fairmill_fairshare.
SELECT COUNT(*) FROM "fairmill_sshare" WHERE "cluster" = ? AND "id_assoc" <= ?

-- name: tree_count
-- The number of associations of a cluster in the table that the views join with the values.
SELECT COUNT(*) FROM "fairmill_tree" WHERE "cluster" = ?
