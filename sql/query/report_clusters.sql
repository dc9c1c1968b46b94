-- SPDX-License-Identifier: MIT
-- The clusters that are published, and what the runs went by.
SELECT l."cluster", r."algorithm", r."as_of", r."half_life", r."time_zone"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
WHERE r."status" = 'done'
ORDER BY l."cluster"
