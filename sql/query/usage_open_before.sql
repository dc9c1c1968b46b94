-- SPDX-License-Identifier: MIT
-- The oldest day before one to which unsealed jobs added.
SELECT MIN("day") FROM "fairmill_usage_open" WHERE "cluster" = ? AND "day" < ?
