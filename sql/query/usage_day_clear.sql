-- SPDX-License-Identifier: MIT
-- All of a day.
DELETE FROM "fairmill_usage_day" WHERE "cluster" = ? AND "day" = ?
