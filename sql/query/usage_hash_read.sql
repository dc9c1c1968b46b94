-- SPDX-License-Identifier: MIT
-- What the rows of each day have for a hash.
SELECT "day", "hash" FROM "fairmill_usage_hash" WHERE "cluster" = ?
