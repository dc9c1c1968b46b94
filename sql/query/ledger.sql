-- SPDX-License-Identifier: MIT
--
-- Corrections of usage that people entered.

-- name: ledger_read
-- The ledger of all clusters.
SELECT
    "id", "cluster", "instant", "entered_at", "who", "why", "kind", "account", "user_name", "partition_name",
    "id_assoc", "tres_seconds", "id_job", "undoes"
FROM "fairmill_ledger"
ORDER BY "id"

-- name: ledger_reset_read
-- What its resets cover.
SELECT "id", "id_assoc" FROM "fairmill_ledger_reset" ORDER BY "id", "id_assoc"

-- name: ledger_chain_read
-- The hashes that entries were given when they were made.
SELECT "id", "cluster", "hash", "chain" FROM "fairmill_ledger_chain" ORDER BY "id"

-- name: ledger_counted_read
-- The entries that runs have counted.
SELECT "id", "cluster", "hash" FROM "fairmill_ledger_counted" ORDER BY "id"

-- name: ledger_last
-- The highest id that an entry has, or had: that of a lost one is not given again.
SELECT COALESCE(MAX("id"), 0)
FROM (
    SELECT MAX("id") AS "id" FROM "fairmill_ledger"
    UNION ALL SELECT MAX("id") FROM "fairmill_ledger_reset"
    UNION ALL SELECT MAX("id") FROM "fairmill_ledger_chain"
    UNION ALL SELECT MAX("id") FROM "fairmill_ledger_counted"
) l
