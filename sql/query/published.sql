-- SPDX-License-Identifier: MIT
-- As of when a cluster is published.
SELECT r."as_of"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
WHERE l."cluster" = ?
