-- SPDX-License-Identifier: MIT
-- All names that associations had.
SELECT "cluster", "id_assoc", "parent_id", "account", "user_name", "partition_name"
FROM "fairmill_association"
ORDER BY "cluster", "id_assoc", "since"
