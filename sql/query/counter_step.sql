-- SPDX-License-Identifier: MIT
-- Take the next run_id; the row stays locked until the transaction ends.
UPDATE "fairmill_lock" SET "run_id" = "run_id" + 1 WHERE "cluster" = ''
