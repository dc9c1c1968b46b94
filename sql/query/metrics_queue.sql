-- SPDX-License-Identifier: MIT
-- How many jobs wait on each cluster.
SELECT "cluster", COUNT(*)
FROM "fairmill_job_priority"
WHERE "best" = 1
GROUP BY "cluster"
ORDER BY "cluster"
