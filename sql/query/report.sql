-- SPDX-License-Identifier: MIT
--
-- Published results, for the report.

-- name: report_settings
-- The settings of each run in an interval.
SELECT "as_of", "settings_digest"
FROM "fairmill_run"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ? AND "status" = 'done'
ORDER BY "as_of", "run_id"

-- name: report_fairness
-- The last fairness of accounts in an interval.
SELECT "use_over", "share_over"
FROM "fairmill_fairness"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" < ? AND "scope" = 'accounts'
ORDER BY "as_of" DESC
LIMIT 1

-- name: report_days_of_four
-- The usage of the days from one day to another: of the charge, and of the first four TRES.  Each
-- column takes time.
SELECT "day", "id_assoc", "tres_seconds", "tres_1", "tres_2", "tres_3", "tres_4"
FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" >= ? AND "day" <= ?
ORDER BY "day"

-- name: report_days
-- The usage of the days from one day to another: of the charge, and by TRES.
SELECT "day", "id_assoc", "tres_seconds",
    "tres_1", "tres_2", "tres_3", "tres_4", "tres_5", "tres_6", "tres_7", "tres_8",
    "tres_9", "tres_10", "tres_11", "tres_12", "tres_13", "tres_14", "tres_15", "tres_16"
FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" >= ? AND "day" <= ?
ORDER BY "day"
