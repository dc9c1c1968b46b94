-- SPDX-License-Identifier: MIT
-- The oldest runs but one.
SELECT "run_id", "started_at"
FROM "fairmill_run"
WHERE "cluster" = ? AND "run_id" <> ?
ORDER BY "run_id"
LIMIT 500
