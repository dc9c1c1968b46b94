-- SPDX-License-Identifier: MIT
-- Old runs; a list of them follows.
DELETE FROM "fairmill_run" WHERE "cluster" = ? AND "run_id"
