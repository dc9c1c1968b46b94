-- SPDX-License-Identifier: MIT
--
-- Changes of associations.

-- name: share_state_read
-- The hash of the last record of associations.
SELECT "last_as_of", "hash" FROM "fairmill_share_state" WHERE "cluster" = ?

-- name: share_change_read
-- The records of associations, each one's oldest first.
SELECT "id_assoc", "as_of", "deleted", "parent_id", "parent_account", "account", "user_name",
    "partition_name", "shares"
FROM "fairmill_share_change"
WHERE "cluster" = ?
ORDER BY "id_assoc", "as_of"
