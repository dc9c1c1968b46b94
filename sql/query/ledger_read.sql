-- SPDX-License-Identifier: MIT
-- A cluster's ledger, as far as it decides usage.
SELECT "id", "instant", "kind", "id_assoc", "tres_seconds", "id_job", "undoes", "account", "user_name"
FROM "fairmill_ledger" WHERE "cluster" = ?
