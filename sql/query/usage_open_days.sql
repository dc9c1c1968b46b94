-- SPDX-License-Identifier: MIT
-- The days to which unsealed jobs added.
SELECT DISTINCT "day" FROM "fairmill_usage_open" WHERE "cluster" = ?
