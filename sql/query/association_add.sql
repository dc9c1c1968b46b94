-- SPDX-License-Identifier: MIT
-- What associations are called and where they hang, where that changed.
INSERT INTO "fairmill_association"
    ("cluster", "id_assoc", "since", "parent_id", "account", "user_name", "partition_name")
SELECT f."cluster", f."id_assoc", f."computed_at", f."parent_id", f."account", f."user_name",
    f."partition_name"
FROM "fairmill_fairshare" f
WHERE f."cluster" = ? AND NOT EXISTS (
    SELECT 1 FROM "fairmill_association" a
    WHERE a."cluster" = f."cluster" AND a."id_assoc" = f."id_assoc" AND a."since" = (
            SELECT MAX(b."since") FROM "fairmill_association" b
            WHERE b."cluster" = f."cluster" AND b."id_assoc" = f."id_assoc"
                AND b."since" <= f."computed_at"
        )
        AND COALESCE(a."parent_id", 0) = COALESCE(f."parent_id", 0)
        AND a."account" = f."account" AND a."user_name" = f."user_name"
        AND a."partition_name" = f."partition_name"
)
