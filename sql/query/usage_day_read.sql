-- SPDX-License-Identifier: MIT
-- The sums of a day.
SELECT "id_assoc", "sum_2", "sum_1", "sum_0" FROM "fairmill_usage_day" WHERE "cluster" = ? AND "day" = ?
