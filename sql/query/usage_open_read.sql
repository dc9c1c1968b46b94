-- SPDX-License-Identifier: MIT
-- What unsealed jobs added to days.
SELECT "day", "id_assoc", "sum_2", "sum_1", "sum_0" FROM "fairmill_usage_open" WHERE "cluster" = ?
