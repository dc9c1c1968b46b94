-- SPDX-License-Identifier: MIT
--
-- What is known of stored rows, by which a run sees that they are still as they were stored.

-- name: kept_read
-- The parts of a table.
SELECT "part", "row_count", "hash" FROM "fairmill_kept" WHERE "cluster" = ? AND "table_name" = ? ORDER BY "part"

-- name: kept_oldest
-- The oldest part of a table of which anything is known.
SELECT MIN("part") FROM "fairmill_kept" WHERE "cluster" = ? AND "table_name" = ?

-- name: kept_remove
-- Forget a part, which has no rows any more.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = ? AND "part" = ?

-- name: kept_strays
-- What no run wrote: parts of tables that are one part.
SELECT "table_name", "part" FROM "fairmill_kept"
WHERE "cluster" = ? AND "part" <> 0
    AND "table_name" IN ('fairmill_job_priority', 'fairmill_job_term', 'fairmill_seal_odd', 'fairmill_seal_slice',
        'fairmill_share_state', 'fairmill_tree', 'fairmill_usage_span', 'fairmill_value')

-- name: kept_day_remove
-- Forget a day that was removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_usage_day' AND "part" = ?

-- name: kept_clear
-- Forget all parts of a cluster.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: kept_point_remove
-- Forget a point of history that was removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" IN ('fairmill_history', 'fairmill_history_point', 'fairmill_backfill') AND "part" = ?

-- name: kept_backfill_remove
-- Forget that backfill made a point.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_backfill' AND "part" = ?

-- name: backfill_kept
-- What backfill noted of the points from one time to another.
SELECT "as_of", "truncation_bound", "in_doubt"
FROM "fairmill_backfill"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?

-- name: kept_point_doubt
-- Forget the hashes of later points: what they were compared with has changed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_history_point' AND "part" > ?

-- name: history_point_kept
-- The points from one time to another that have a hash of their associations.
SELECT "as_of", "associations", "algorithm"
FROM "fairmill_history_point"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ? AND "associations" <> 0

-- name: kept_fairness_remove
-- Forget an instant of which it was kept how fair use was.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_fairness' AND "part" = ?

-- name: fairness_kept
-- How fair use was, from one instant to another.
SELECT "as_of", "scope", "members", "jain", "use_over", "share_over", "use_under", "share_under"
FROM "fairmill_fairness"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?

-- name: history_kept
-- Points from one instant to another.
SELECT h."as_of", h."id_assoc", h."fairshare", h."usage_raw", h."level_fs", p."algorithm"
FROM "fairmill_history" h
JOIN "fairmill_history_point" p ON p."cluster" = h."cluster" AND p."as_of" = h."as_of"
WHERE h."cluster" = ? AND h."as_of" >= ? AND h."as_of" <= ?

-- name: association_kept
-- The names that associations got from one instant to another.
SELECT "since", "id_assoc", "parent_id", "account", "user_name", "partition_name"
FROM "fairmill_association"
WHERE "cluster" = ? AND "since" >= ? AND "since" <= ?

-- name: share_change_kept
-- The records of associations from one instant to another.
SELECT "as_of", "id_assoc", "deleted", "run_id", "parent_id", "parent_account", "account",
    "user_name", "partition_name", "shares", "modified", "seen_before"
FROM "fairmill_share_change"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?

-- name: share_past_kept
-- What was known of associations over time when a run first asked, as one part.
SELECT 0, "id_assoc", "since", "deleted", "parent_id", "account", "user_name", "partition_name", "shares"
FROM "fairmill_share_past"
WHERE "cluster" = ? AND 0 * "since" >= ? AND 0 * "since" <= ?

-- name: share_state_kept
-- The hash of the last record of associations, as one part.
SELECT 0, "last_as_of", "hash" FROM "fairmill_share_state" WHERE "cluster" = ? AND "last_as_of" >= ? AND "last_as_of" <= ?

-- name: qos_change_kept
-- The notes of usage factors from one instant to another.
SELECT "as_of", "id_qos", "told", "seen_before", "run_id", "name", "usage_factor"
FROM "fairmill_qos_change"
WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" <= ?

-- name: kept_factors_clear
-- Forget the notes of usage factors, which were removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_qos_change'

-- name: kept_share_past_clear
-- Forget the earlier states of associations, which were removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" = 'fairmill_share_past'

-- name: kept_changes_clear
-- Forget the records of associations, which were removed.
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "table_name" IN ('fairmill_share_change', 'fairmill_share_state')
