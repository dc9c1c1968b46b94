-- SPDX-License-Identifier: MIT
--
-- Changes of associations and of usage factors.

-- name: share_state_read
-- The hash of all associations at the last run, and the time of that run.
SELECT "last_as_of", "hash" FROM "fairmill_share_state" WHERE "cluster" = ?

-- name: share_runs_read
-- The runs that recorded associations, and for each of them the previous run.
SELECT DISTINCT "as_of", "seen_before"
FROM "fairmill_share_change"
WHERE "cluster" = ?

-- name: share_change_read
-- The records of associations; for each association, the oldest record first.
SELECT "id_assoc", "as_of", "deleted", "parent_id", "parent_account", "account", "user_name",
    "partition_name", "shares", "modified"
FROM "fairmill_share_change"
WHERE "cluster" = ?
ORDER BY "id_assoc", "as_of"

-- name: qos_change_read
-- The usage factors of QOS; for each QOS, the oldest factor first.
SELECT "id_qos", "as_of", "told", "seen_before", "name", "usage_factor"
FROM "fairmill_qos_change"
WHERE "cluster" = ?
ORDER BY "id_qos", "as_of"

-- name: share_change_first
-- The first run that recorded associations.
SELECT MIN("as_of") FROM "fairmill_share_change" WHERE "cluster" = ?

-- name: share_past_any
-- The smallest id of an association of a cluster in fairmill_share_past; NULL if there is no row.
SELECT MIN("id_assoc") FROM "fairmill_share_past" WHERE "cluster" = ?

-- name: share_past_read
-- The states in fairmill_share_past; for each association, the oldest state first.
SELECT "id_assoc", "parent_id", "account", "user_name", "partition_name", "since", "deleted", "shares"
FROM "fairmill_share_past"
WHERE "cluster" = ?
ORDER BY "id_assoc", "since"

-- name: share_change_times
-- All records of associations with the columns for association_times_read(); for each association,
-- the oldest record first.
SELECT "id_assoc", "parent_id", "account", "user_name", "partition_name", "as_of", "deleted", "shares",
    "modified", "seen_before"
FROM "fairmill_share_change"
WHERE "cluster" = ?
ORDER BY "id_assoc", "as_of"
