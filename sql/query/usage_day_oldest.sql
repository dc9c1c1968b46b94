-- SPDX-License-Identifier: MIT
-- The oldest day.
SELECT MIN("day") FROM "fairmill_usage_day" WHERE "cluster" = ?
