-- SPDX-License-Identifier: MIT
-- How each published cluster was computed.
SELECT l."cluster", r."algorithm", r."conformance", r."as_of", s."text", r."half_life"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
LEFT JOIN "fairmill_settings" s ON s."digest" = r."settings_digest"
WHERE r."status" = 'done'
ORDER BY l."cluster"
