-- SPDX-License-Identifier: MIT
-- What was odd about jobs in the sums.
SELECT "kind", "subject", "detail" FROM "fairmill_seal_finding" WHERE "cluster" = ?
