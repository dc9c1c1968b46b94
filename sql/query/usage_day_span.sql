-- SPDX-License-Identifier: MIT
-- The usage of some days.
SELECT "day", "id_assoc", "tres_seconds"
FROM "fairmill_usage_day"
WHERE "cluster" = ? AND "day" >= ? AND "day" <= ?
ORDER BY "day"
