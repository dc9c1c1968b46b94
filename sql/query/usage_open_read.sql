-- SPDX-License-Identifier: MIT
-- What unsealed jobs added to a day.
SELECT "id_assoc", "sum_2", "sum_1", "sum_0" FROM "fairmill_usage_open" WHERE "cluster" = ? AND "day" = ?
