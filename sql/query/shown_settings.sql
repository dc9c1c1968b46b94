-- SPDX-License-Identifier: MIT
-- The settings that a cluster's published run had.
SELECT s."text"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
JOIN "fairmill_settings" s ON s."digest" = r."settings_digest"
WHERE l."cluster" = ?
