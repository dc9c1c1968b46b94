-- SPDX-License-Identifier: MIT
-- The ledger of all clusters, for people.
SELECT
    l."cluster", l."id", l."instant", l."kind", l."id_assoc", l."tres_seconds", l."id_job", l."undoes",
    l."account", l."user_name", l."partition_name", l."entered_at", l."who", l."why",
    (SELECT COUNT(*) FROM "fairmill_ledger_reset" r WHERE r."id" = l."id")
FROM "fairmill_ledger" l
ORDER BY l."id"
