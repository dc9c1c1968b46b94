-- SPDX-License-Identifier: MIT
-- Old runs; a list of them follows.
DELETE /*! "fairmill_run" */ FROM "fairmill_run" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "run_id"
