-- SPDX-License-Identifier: MIT
-- All associations at a point.
SELECT "id_assoc", "fairshare", "usage_raw", "level_fs"
FROM "fairmill_history"
WHERE "cluster" = ? AND "as_of" = ?
