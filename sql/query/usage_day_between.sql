-- SPDX-License-Identifier: MIT
-- Rows of days that are none in this time zone.
DELETE FROM "fairmill_usage_day" WHERE "cluster" = ? AND "day" > ? AND "day" < ?
