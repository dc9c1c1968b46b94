-- SPDX-License-Identifier: MIT
-- What was odd about jobs in the sums.
SELECT "kind", "subject", "time_end", "detail" FROM "fairmill_seal_odd" WHERE "cluster" = ?
