-- SPDX-License-Identifier: MIT
-- What is published becomes a point.
INSERT INTO "fairmill_history" ("cluster", "id_assoc", "as_of", "fairshare", "usage_raw", "level_fs")
SELECT "cluster", "id_assoc", "computed_at", "fairshare", "usage_raw", "level_fs"
FROM "fairmill_fairshare"
WHERE "cluster" = ?
