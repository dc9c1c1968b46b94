-- SPDX-License-Identifier: MIT
-- A cluster's findings.
SELECT "kind", "subject", "first_seen", "last_seen", "count", "detail"
FROM "fairmill_finding"
WHERE "cluster" = ?
