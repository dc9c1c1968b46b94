-- SPDX-License-Identifier: MIT
--
-- Published results, for the report.

-- name: report_points
-- The points of an interval.
SELECT "as_of", "algorithm"
FROM "fairmill_history_point"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?
ORDER BY "as_of"

-- name: report_point_values
-- All associations at a point.
SELECT "id_assoc", "fairshare", "usage_raw", "level_fs"
FROM "fairmill_history"
WHERE "cluster" = ? AND "as_of" = ?

-- name: report_settings
-- The settings of each run in an interval.
SELECT "as_of", "settings_digest"
FROM "fairmill_run"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ? AND "status" = 'done'
ORDER BY "as_of", "run_id"

-- name: report_fairness
-- The fairness values of an interval.
SELECT "as_of", "scope", "jain", "use_over", "share_over"
FROM "fairmill_fairness"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?
ORDER BY "as_of", "scope"

-- name: report_days
-- The usage of the days from one day to another: of the charge, and by TRES.
SELECT "day", "id_assoc", "tres_seconds",
    "tres_1", "tres_2", "tres_3", "tres_4", "tres_5", "tres_6", "tres_7", "tres_8",
    "tres_9", "tres_10", "tres_11", "tres_12", "tres_13", "tres_14", "tres_15", "tres_16"
FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" >= ? AND "day" <= ?
ORDER BY "day"
