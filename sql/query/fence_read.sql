-- SPDX-License-Identifier: MIT
-- Which run published a cluster last.
SELECT "run_id" FROM "fairmill_lock" WHERE "cluster" = ?
