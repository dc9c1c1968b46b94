-- SPDX-License-Identifier: MIT
-- Whether a run was published.
SELECT "run_id" FROM "fairmill_run" WHERE "cluster" = ? AND "run_id" = ? AND "status" = 'done'
