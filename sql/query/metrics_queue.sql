-- SPDX-License-Identifier: MIT
-- How many jobs wait on each cluster that is published and not retired.
SELECT l."cluster", COUNT(j."cluster")
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
LEFT JOIN "fairmill_job_priority" j ON j."cluster" = l."cluster" AND j."best" = 1
WHERE l."source" <> ''
GROUP BY l."cluster"
ORDER BY l."cluster"
