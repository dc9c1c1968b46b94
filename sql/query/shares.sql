-- SPDX-License-Identifier: MIT
--
-- Changes of associations, and of usage factors.

-- name: share_state_read
-- The hash of the last record of associations.
SELECT "last_as_of", "hash" FROM "fairmill_share_state" WHERE "cluster" = ?

-- name: share_runs_read
-- The runs that the records tell of: those that noted something, and what was the last one before.
SELECT DISTINCT "as_of", "seen_before"
FROM "fairmill_share_change"
WHERE "cluster" = ?

-- name: share_change_read
-- The records of associations, each one's oldest first.
SELECT "id_assoc", "as_of", "deleted", "parent_id", "parent_account", "account", "user_name",
    "partition_name", "shares", "modified"
FROM "fairmill_share_change"
WHERE "cluster" = ?
ORDER BY "id_assoc", "as_of"

-- name: qos_change_read
-- The usage factors of QOS, each one's oldest first.
SELECT "id_qos", "as_of", "told", "seen_before", "name", "usage_factor"
FROM "fairmill_qos_change"
WHERE "cluster" = ?
ORDER BY "id_qos", "as_of"

-- name: share_change_first
-- The first run that noted associations.
SELECT MIN("as_of") FROM "fairmill_share_change" WHERE "cluster" = ?

-- name: share_past_any
-- Whether a cluster has rows in fairmill_share_past: NULL if not.
SELECT MIN("id_assoc") FROM "fairmill_share_past" WHERE "cluster" = ?

-- name: share_past_read
-- The states of associations over time, each one's oldest first.
SELECT "id_assoc", "parent_id", "account", "user_name", "partition_name", "since", "deleted", "shares"
FROM "fairmill_share_past"
WHERE "cluster" = ?
ORDER BY "id_assoc", "since"

-- name: share_change_times
-- All that runs noted of associations, each one's oldest first.
SELECT "id_assoc", "parent_id", "account", "user_name", "partition_name", "as_of", "deleted", "shares",
    "modified", "seen_before"
FROM "fairmill_share_change"
WHERE "cluster" = ?
ORDER BY "id_assoc", "as_of"
