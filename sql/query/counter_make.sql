-- SPDX-License-Identifier: MIT
-- The row that counts runs.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT '', 0, ''
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = '')
