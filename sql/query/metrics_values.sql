-- SPDX-License-Identifier: MIT
-- What is published of every association, for a monitor.  The root has no RawShares, as in show.
SELECT s."cluster", s."account", s."username", s."partition", p."account",
    CASE WHEN f."parent_id" IS NOT NULL THEN f."shares" END, s."normshares", s."rawusage", s."normusage", s."effectvusage", s."fairshare", f."level_fs",
    f."level_fs_infinite", f."fair_tree_rank"
FROM "fairmill_sshare" s
JOIN "fairmill_fairshare" f ON f."cluster" = s."cluster" AND f."id_assoc" = s."id_assoc"
LEFT JOIN "fairmill_fairshare" p ON p."cluster" = f."cluster" AND p."id_assoc" = f."parent_id"
ORDER BY s."cluster", s."id_assoc"
