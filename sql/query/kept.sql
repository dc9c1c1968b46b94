-- SPDX-License-Identifier: MIT
--
-- What is known of stored rows, by which a run sees that they are still as they were stored.

-- name: kept_read
-- The parts of a table.
SELECT "part", "row_count", "hash" FROM "fairmill_kept" WHERE "cluster" = ? AND "table_name" = ? ORDER BY "part"

-- name: kept_remove
-- Forget a part, which has no rows any more.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = ? AND "part" = ?

-- name: kept_day_remove
-- Forget a day that was removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_usage_day' AND "part" = ?

-- name: kept_clear
-- Forget all parts of a cluster.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
