-- SPDX-License-Identifier: MIT
-- A cluster's tree in sshare's columns, parents first.
SELECT f."id_assoc", f."parent_id", f."account", f."user_name", f."partition_name", f."shares",
    s."normshares", s."rawusage", s."effectvusage", s."fairshare", s."levelfs"
FROM "fairmill_fairshare" f
JOIN "fairmill_sshare" s ON s."cluster" = f."cluster" AND s."id_assoc" = f."id_assoc"
WHERE f."cluster" = ?
ORDER BY f."depth", f."id_assoc"
