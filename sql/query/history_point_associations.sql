-- SPDX-License-Identifier: MIT
-- The hash of the associations at the last point up to an instant.
SELECT "associations"
FROM "fairmill_history_point"
WHERE "cluster" = ? AND "as_of" <= ?
ORDER BY "as_of" DESC
LIMIT 1
