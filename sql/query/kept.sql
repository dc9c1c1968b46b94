-- SPDX-License-Identifier: MIT
--
-- The hashes with which runs verify stored rows.

-- name: kept_read
-- The hash segments of a table.
SELECT "part", "row_count", "hash" FROM "fairmill_kept" WHERE "cluster" = ? AND "table_name" = ? ORDER BY "part"

-- name: kept_oldest
-- The oldest segment of a table that has a hash.
SELECT MIN("part") FROM "fairmill_kept" WHERE "cluster" = ? AND "table_name" = ?

-- name: kept_remove
-- Remove the hash of an empty segment.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = ? AND "part" = ?

-- name: kept_strays
-- Rows that no run wrote: segments other than 0 of tables that have only segment 0.
SELECT "table_name", "part" FROM "fairmill_kept"
WHERE "cluster" = ? AND "part" <> 0
    AND "table_name" IN ('fairmill_budget', 'fairmill_job_priority', 'fairmill_job_term', 'fairmill_seal_odd',
        'fairmill_seal_slice', 'fairmill_share_state', 'fairmill_tree', 'fairmill_usage_span', 'fairmill_value')

-- name: kept_day_remove
-- Remove the hash of a day that was removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_usage_day' AND "part" = ?

-- name: kept_waits_remove
-- Remove the hash of the jobs by waiting time of a day that was removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_wait_final' AND "part" = ?

-- name: kept_clear
-- Remove all hashes of a cluster.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: kept_point_remove
-- Remove the hashes of a history point that was removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" IN ('fairmill_history', 'fairmill_history_point', 'fairmill_backfill') AND "part" = ?

-- name: kept_backfill_remove
-- Remove the hash of the record that backfill computed a point.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_backfill' AND "part" = ?

-- name: backfill_kept
-- The points from one time to another that backfill computed.
SELECT "as_of", "truncation_bound", "in_doubt"
FROM "fairmill_backfill"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?

-- name: kept_point_doubt
-- Remove the hashes of later points, because the names at an earlier point have changed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_history_point' AND "part" > ?

-- name: history_point_kept
-- The points from one time to another that have a hash of their associations.
SELECT "as_of", "associations", "algorithm"
FROM "fairmill_history_point"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ? AND "associations" <> 0

-- name: kept_fairness_remove
-- Remove the hash of fairness values that were removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_fairness' AND "part" = ?

-- name: fairness_kept
-- The fairness values from one time to another.
SELECT "as_of", "scope", "members", "jain", "use_over", "share_over", "use_under", "share_under"
FROM "fairmill_fairness"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?

-- name: history_kept
-- The values of points from one time to another.
SELECT h."as_of", h."id_assoc", h."fairshare", h."usage_raw", h."level_fs", p."algorithm"
FROM "fairmill_history" h
JOIN "fairmill_history_point" p ON p."cluster" = h."cluster" AND p."as_of" = h."as_of"
WHERE h."cluster" = ? AND h."as_of" >= ? AND h."as_of" <= ?

-- name: association_kept
-- The names of associations that begin from one time to another.
SELECT "since", "id_assoc", "parent_id", "account", "user_name", "partition_name"
FROM "fairmill_association"
WHERE "cluster" = ? AND "since" >= ? AND "since" <= ?

-- name: share_change_kept
-- The records of associations from one time to another.
SELECT "as_of", "id_assoc", "deleted", "run_id", "parent_id", "parent_account", "account",
    "user_name", "partition_name", "shares", "modified", "seen_before"
FROM "fairmill_share_change"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?

-- name: tres_name_kept
-- The numbers of the kept TRES, as one segment.
SELECT 0, "number", "tres"
FROM "fairmill_tres_name"
WHERE "cluster" = ? AND 0 * "number" >= ? AND 0 * "number" <= ?

-- name: share_past_kept
-- The earlier states of associations, as one segment.
SELECT 0, "id_assoc", "since", "deleted", "parent_id", "account", "user_name", "partition_name", "shares"
FROM "fairmill_share_past"
WHERE "cluster" = ? AND 0 * "since" >= ? AND 0 * "since" <= ?

-- name: share_state_kept
-- The hash of the last record of associations, as one segment.
SELECT 0, "last_as_of", "hash" FROM "fairmill_share_state" WHERE "cluster" = ? AND "last_as_of" >= ? AND "last_as_of" <= ?

-- name: qos_change_kept
-- The records of usage factors from one time to another.
SELECT "as_of", "id_qos", "told", "seen_before", "run_id", "name", "usage_factor"
FROM "fairmill_qos_change"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?

-- name: kept_factors_clear
-- Remove the hashes of records of usage factors that were removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_qos_change'

-- name: kept_share_past_clear
-- Remove the hash of earlier states of associations that were removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_share_past'

-- name: kept_changes_clear
-- Remove the hashes of records of associations that were removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" IN ('fairmill_share_change', 'fairmill_share_state')
