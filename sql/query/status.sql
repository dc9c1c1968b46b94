-- SPDX-License-Identifier: MIT
-- What is published of each cluster, and how its last run went.
SELECT l."cluster", l."run_id", l."source", r."as_of", r."duration_ms", r."source_lag",
    r."drift_max",
    (SELECT COUNT(*) FROM "fairmill_finding" f
     WHERE f."cluster" = l."cluster" AND f."last_seen" = r."as_of"),
    t."status", t."started_at", t."message"
FROM "fairmill_lock" l
LEFT JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
LEFT JOIN "fairmill_run" t ON t."cluster" = l."cluster" AND t."run_id" =
    (SELECT MAX(m."run_id") FROM "fairmill_run" m WHERE m."cluster" = l."cluster")
WHERE l."cluster" <> ''
ORDER BY l."cluster"
