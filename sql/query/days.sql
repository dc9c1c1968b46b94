-- SPDX-License-Identifier: MIT
--
-- Daily usage.

-- name: usage_span_read
-- The row of a cluster in fairmill_usage_span.
SELECT "as_of", "oldest_end", "final_to" FROM "fairmill_usage_span" WHERE "cluster" = ?

-- name: usage_day_read
-- The usage of each association of a cluster on a day.
SELECT "id_assoc", "sum_2", "sum_1", "sum_0",
    "tres_1", "tres_2", "tres_3", "tres_4", "tres_5", "tres_6", "tres_7", "tres_8",
    "tres_9", "tres_10", "tres_11", "tres_12", "tres_13", "tres_14", "tres_15", "tres_16",
    "tres_seconds"
FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" = ?

-- name: usage_day_span
-- The usage of the days from one day to another, without the exact sums.
SELECT "day", "id_assoc", "tres_seconds"
FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" >= ? AND "day" <= ?
ORDER BY "day"

-- name: usage_day_tres
-- The usage by TRES of the days from one day to another.
SELECT "id_assoc",
    "tres_1", "tres_2", "tres_3", "tres_4", "tres_5", "tres_6", "tres_7", "tres_8",
    "tres_9", "tres_10", "tres_11", "tres_12", "tres_13", "tres_14", "tres_15", "tres_16"
FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" >= ? AND "day" <= ?

-- name: usage_day_oldest
-- The oldest day of a cluster.
SELECT MIN("day") FROM "fairmill_usage_day" WHERE "cluster" = ?

-- name: usage_day_last
-- The newest day of a cluster.
SELECT MAX("day") FROM "fairmill_usage_day" WHERE "cluster" = ?

-- name: usage_day_between
-- The oldest stored day in an interval.  Runs use it for the time between two days of the current
-- time zone, to find days that began in a different time zone.
SELECT MIN("day") FROM "fairmill_usage_day" WHERE "cluster" = ? AND "day" BETWEEN ? AND ?

-- name: usage_day_clear
-- Remove the usage of a day.
DELETE /*! "fairmill_usage_day" */ FROM "fairmill_usage_day" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ?

-- name: usage_day_remove
-- Remove the usage of some associations on a day.  A list of the associations follows.
DELETE /*! "fairmill_usage_day" */ FROM "fairmill_usage_day" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ? AND "id_assoc"

-- name: usage_open_read
-- The usage of a day by jobs that are not in the checkpoint.
SELECT "id_assoc", "sum_2", "sum_1", "sum_0",
    "tres_1", "tres_2", "tres_3", "tres_4", "tres_5", "tres_6", "tres_7", "tres_8",
    "tres_9", "tres_10", "tres_11", "tres_12", "tres_13", "tres_14", "tres_15", "tres_16"
FROM "fairmill_usage_open"
WHERE "cluster" = ? AND "day" = ?

-- name: usage_open_days
-- The days with usage of jobs that are not in the checkpoint.
SELECT DISTINCT "day" FROM "fairmill_usage_open" WHERE "cluster" = ?

-- name: usage_open_between
-- The oldest day in an interval with usage of jobs that are not in the checkpoint.
SELECT MIN("day") FROM "fairmill_usage_open" WHERE "cluster" = ? AND "day" BETWEEN ? AND ?

-- name: usage_open_clear
-- Remove the usage of a day by jobs that are not in the checkpoint.
DELETE /*! "fairmill_usage_open" */ FROM "fairmill_usage_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ?

-- name: usage_open_remove
-- Remove the usage of some associations on a day by jobs that are not in the checkpoint.  A list of
-- the associations follows.
DELETE /*! "fairmill_usage_open" */ FROM "fairmill_usage_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ? AND "id_assoc"
