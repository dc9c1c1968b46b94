-- SPDX-License-Identifier: MIT
--
-- Corrections of usage that people entered.

-- name: ledger_read
-- A cluster's ledger, as far as it decides usage.
SELECT "id", "instant", "kind", "id_assoc", "tres_seconds", "id_job", "undoes", "account", "user_name"
FROM "fairmill_ledger" WHERE "cluster" = ?

-- name: ledger_reset_read
-- What the resets in a cluster's ledger cover.
SELECT r."id", r."id_assoc"
FROM "fairmill_ledger_reset" r
JOIN "fairmill_ledger" l ON l."id" = r."id"
WHERE l."cluster" = ?

-- name: ledger_list
-- The ledger of all clusters, for people.
SELECT
    l."cluster", l."id", l."instant", l."kind", l."id_assoc", l."tres_seconds", l."id_job", l."undoes",
    l."account", l."user_name", l."partition_name", l."entered_at", l."who", l."why",
    (SELECT COUNT(*) FROM "fairmill_ledger_reset" r WHERE r."id" = l."id")
FROM "fairmill_ledger" l
ORDER BY l."id"

-- name: ledger_last
-- The id of the newest entry in the ledger.
SELECT COALESCE(MAX("id"), 0) FROM "fairmill_ledger"
