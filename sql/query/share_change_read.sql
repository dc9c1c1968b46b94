-- SPDX-License-Identifier: MIT
-- What runs noted of associations, the oldest first.
SELECT "id_assoc", "as_of", "deleted", "parent_id", "parent_account", "account", "user_name",
    "partition_name", "shares"
FROM "fairmill_share_change"
WHERE "cluster" = ?
ORDER BY "id_assoc", "as_of"
