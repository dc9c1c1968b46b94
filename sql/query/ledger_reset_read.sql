-- SPDX-License-Identifier: MIT
-- What the resets in a cluster's ledger cover.
SELECT r."id", r."id_assoc"
FROM "fairmill_ledger_reset" r
JOIN "fairmill_ledger" l ON l."id" = r."id"
WHERE l."cluster" = ?
