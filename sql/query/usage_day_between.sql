-- SPDX-License-Identifier: MIT
-- The oldest day between two, which is none in this time zone.
SELECT MIN("day") FROM "fairmill_usage_day" WHERE "cluster" = ? AND "day" > ? AND "day" < ?
