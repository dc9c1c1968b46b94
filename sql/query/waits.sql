-- SPDX-License-Identifier: MIT
--
-- The number of jobs by the time for which they waited.

-- name: wait_days
-- The counts of the days from one day on and before another.  The view fairmill_wait_day contains
-- the same, but SQLite would read all days for it.
SELECT "id_assoc", "partition_name", "qos", "bucket_s", "jobs"
FROM "fairmill_wait_final"
WHERE "cluster" = ? AND "day" >= ? AND "day" < ?
UNION ALL
SELECT "id_assoc", "partition_name", "qos", "bucket_s", "jobs"
FROM "fairmill_wait_open"
WHERE "cluster" = ? AND "day" >= ? AND "day" < ?

-- name: wait_oldest_day
-- The oldest day of a cluster.
SELECT MIN(w."day")
FROM (
    SELECT MIN("day") AS "day" FROM "fairmill_wait_final" WHERE "cluster" = ?
    UNION ALL
    SELECT MIN("day") FROM "fairmill_wait_open" WHERE "cluster" = ?
) w

-- name: wait_point
-- The newest history point from one time on and before another, with one algorithm.
SELECT MAX("as_of") FROM "fairmill_history_point"
WHERE "cluster" = ? AND "algorithm" = ? AND "as_of" >= ? AND "as_of" < ?

-- name: wait_point_factors
-- The fairshare factors at a point.
SELECT "id_assoc", "fairshare" FROM "fairmill_history" WHERE "cluster" = ? AND "as_of" = ?
