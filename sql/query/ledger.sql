-- SPDX-License-Identifier: MIT
--
-- The ledger: corrections of usage.

-- name: ledger_read
-- The ledger of all clusters.
SELECT
    "id", "cluster", "instant", "entered_at", "who", "why", "kind", "account", "user_name", "partition_name",
    "id_assoc", "tres_seconds", "id_job", "undoes"
FROM "fairmill_ledger"
ORDER BY "id"

-- name: ledger_count
-- The number of a cluster's entries.
SELECT COUNT(*) FROM "fairmill_ledger" WHERE "cluster" = ?

-- name: ledger_reset_read
-- The associations to which `reset` and `set` entries apply.
SELECT "id", "id_assoc" FROM "fairmill_ledger_reset" ORDER BY "id", "id_assoc"

-- name: ledger_chain_read
-- The hashes and chain values that were stored when the entries were made.
SELECT "id", "cluster", "hash", "chain" FROM "fairmill_ledger_chain" ORDER BY "id"

-- name: ledger_counted_read
-- The entries that runs have applied, with their hashes.
SELECT "id", "cluster", "hash" FROM "fairmill_ledger_counted" ORDER BY "id"

-- name: ledger_last
-- The highest id of any entry, including lost entries, because ids are not reused.
SELECT COALESCE(MAX("id"), 0)
FROM (
    SELECT MAX("id") AS "id" FROM "fairmill_ledger"
    UNION ALL SELECT MAX("id") FROM "fairmill_ledger_reset"
    UNION ALL SELECT MAX("id") FROM "fairmill_ledger_chain"
    UNION ALL SELECT MAX("id") FROM "fairmill_ledger_counted"
) l
