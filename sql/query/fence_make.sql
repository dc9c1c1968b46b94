-- SPDX-License-Identifier: MIT
-- A cluster's row in the fence, before its first run.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT ?, 0, ''
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = ?)
