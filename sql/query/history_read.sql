-- SPDX-License-Identifier: MIT
-- An association at the points of a span.
SELECT h."as_of", h."fairshare", h."usage_raw", h."level_fs", p."algorithm"
FROM "fairmill_history_point" p
JOIN "fairmill_history" h ON h."cluster" = p."cluster" AND h."as_of" = p."as_of" AND h."id_assoc" = ?
WHERE p."cluster" = ? AND p."as_of" >= ? AND p."as_of" <= ?
ORDER BY h."as_of"
