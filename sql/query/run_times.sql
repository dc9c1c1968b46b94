-- SPDX-License-Identifier: MIT
-- When the last runs of a cluster were, the newest first.
SELECT "started_at"
FROM "fairmill_run"
WHERE "cluster" = ? AND "status" = 'done'
ORDER BY "run_id" DESC
LIMIT 10
