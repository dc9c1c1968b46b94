-- SPDX-License-Identifier: MIT
-- The points of a span.
SELECT "as_of", "algorithm"
FROM "fairmill_history_point"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?
ORDER BY "as_of"
