-- SPDX-License-Identifier: MIT
-- The newest day of a cluster.
SELECT MAX("day") FROM "fairmill_usage_day" WHERE "cluster" = ?
