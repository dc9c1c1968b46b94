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
