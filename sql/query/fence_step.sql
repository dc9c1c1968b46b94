-- SPDX-License-Identifier: MIT
-- Publish: hits one row, unless somebody else published in between.
UPDATE "fairmill_lock" SET "run_id" = ?, "source" = ? WHERE "cluster" = ? AND "run_id" = ?
