-- SPDX-License-Identifier: MIT
-- Take the next run_id: hits the row, unless somebody else has taken it since it was read.
UPDATE "fairmill_lock" SET "run_id" = "run_id" + 1 WHERE "cluster" = '' AND "run_id" = ?
