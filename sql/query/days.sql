-- SPDX-License-Identifier: MIT
--
-- Daily usage.

-- name: usage_span_read
-- The row of a cluster in fairmill_usage_span.
SELECT "as_of", "oldest_end", "final_to" FROM "fairmill_usage_span" WHERE "cluster" = ?

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

-- name: tres_name_all
-- The TRES whose usage is kept, for all clusters.
SELECT "tres", "cluster" FROM "fairmill_tres_name" ORDER BY "tres", "cluster"

-- name: tres_name_find
-- The number of a TRES.
SELECT "number" FROM "fairmill_tres_name" WHERE "cluster" = ? AND "tres" = ?

-- name: tres_day_span
-- The usage of the TRES with a number, on the days from one day to another.  The view
-- fairmill_tres_day contains the same, but is slower with SQLite.
SELECT
    "day",
    "id_assoc",
    CASE ?
        WHEN 1 THEN "tres_1"
        WHEN 2 THEN "tres_2"
        WHEN 3 THEN "tres_3"
        WHEN 4 THEN "tres_4"
        WHEN 5 THEN "tres_5"
        WHEN 6 THEN "tres_6"
        WHEN 7 THEN "tres_7"
        WHEN 8 THEN "tres_8"
        WHEN 9 THEN "tres_9"
        WHEN 10 THEN "tres_10"
        WHEN 11 THEN "tres_11"
        WHEN 12 THEN "tres_12"
        WHEN 13 THEN "tres_13"
        WHEN 14 THEN "tres_14"
        WHEN 15 THEN "tres_15"
        WHEN 16 THEN "tres_16"
    END AS "seconds"
FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" >= ? AND "day" <= ?
ORDER BY "day"

-- name: tres_day_first
-- The first day of a cluster with usage of the TRES with a number.
SELECT "day"
FROM "fairmill_usage_day"
WHERE "cluster" = ?
    AND CASE ?
        WHEN 1 THEN "tres_1"
        WHEN 2 THEN "tres_2"
        WHEN 3 THEN "tres_3"
        WHEN 4 THEN "tres_4"
        WHEN 5 THEN "tres_5"
        WHEN 6 THEN "tres_6"
        WHEN 7 THEN "tres_7"
        WHEN 8 THEN "tres_8"
        WHEN 9 THEN "tres_9"
        WHEN 10 THEN "tres_10"
        WHEN 11 THEN "tres_11"
        WHEN 12 THEN "tres_12"
        WHEN 13 THEN "tres_13"
        WHEN 14 THEN "tres_14"
        WHEN 15 THEN "tres_15"
        WHEN 16 THEN "tres_16"
    END IS NOT NULL
ORDER BY "day"
LIMIT 1

-- name: usage_day_between
-- The oldest stored day in an interval.  Runs use it for the time between two days of the current
-- time zone, to find days that began in a different time zone.
SELECT MIN("day") FROM "fairmill_usage_day" WHERE "cluster" = ? AND "day" BETWEEN ? AND ?

-- name: usage_day_with_tres
-- The days from one day to another that have usage by TRES.
SELECT DISTINCT "day" FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" BETWEEN ? AND ?
    AND COALESCE("tres_1", "tres_2", "tres_3", "tres_4", "tres_5", "tres_6", "tres_7", "tres_8",
        "tres_9", "tres_10", "tres_11", "tres_12", "tres_13", "tres_14", "tres_15", "tres_16") IS NOT NULL
ORDER BY "day"

-- name: usage_cutoff
-- Runs do not read jobs of a cluster that ended at or before this time.
SELECT "cutoff" FROM "fairmill_seal" WHERE "cluster" = ?

-- name: usage_day_clear
-- Remove the usage of a day.
DELETE /*! "fairmill_usage_day" */ FROM "fairmill_usage_day" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ?

-- name: usage_day_remove
-- Remove the usage of some associations on a day.  A list of the associations follows.
DELETE /*! "fairmill_usage_day" */ FROM "fairmill_usage_day" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ? AND "id_assoc"

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

-- name: wait_final_oldest
-- The oldest day of a cluster with jobs that are in the checkpoint.
SELECT MIN("day") FROM "fairmill_wait_final" WHERE "cluster" = ?

-- name: wait_final_read
-- The jobs of a day that are in the checkpoint, by waiting time.
SELECT "id_assoc", "partition_name", "qos", "bucket_s", "jobs"
FROM "fairmill_wait_final"
WHERE "cluster" = ? AND "day" = ?

-- name: wait_final_of
-- The same for some associations.  A list of the associations follows.
SELECT "id_assoc", "partition_name", "qos", "bucket_s", "jobs"
FROM "fairmill_wait_final"
WHERE "cluster" = ? AND "day" = ? AND "id_assoc"

-- name: wait_final_clear
-- Remove the jobs of a day that are in the checkpoint.
DELETE /*! "fairmill_wait_final" */ FROM "fairmill_wait_final" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ?

-- name: wait_open_read
-- The jobs of a day that are not in the checkpoint, by waiting time.
SELECT "id_assoc", "partition_name", "qos", "bucket_s", "jobs"
FROM "fairmill_wait_open"
WHERE "cluster" = ? AND "day" = ?

-- name: wait_open_clear
-- Remove the jobs of a day that are not in the checkpoint.
DELETE /*! "fairmill_wait_open" */ FROM "fairmill_wait_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ?
