-- SPDX-License-Identifier: MIT
-- The clusters that are published.
SELECT l."cluster", r."algorithm", r."as_of"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
WHERE r."status" = 'done'
ORDER BY l."cluster"
