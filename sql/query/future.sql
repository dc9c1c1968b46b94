-- SPDX-License-Identifier: MIT
--
-- Statements that remove rows with times in the future, which runs wrote when the clock was ahead.

-- name: future_values
DELETE /*! "fairmill_history" */ FROM "fairmill_history" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" > ?

-- name: future_points
DELETE /*! "fairmill_history_point" */ FROM "fairmill_history_point" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" > ?

-- name: future_fairness
DELETE /*! "fairmill_fairness" */ FROM "fairmill_fairness" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" > ?

-- name: future_backfill
DELETE /*! "fairmill_backfill" */ FROM "fairmill_backfill" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" > ?

-- name: future_names
DELETE /*! "fairmill_association" */ FROM "fairmill_association" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "since" > ?

-- name: future_changes
DELETE /*! "fairmill_share_change" */ FROM "fairmill_share_change" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" > ?

-- name: future_factors
DELETE /*! "fairmill_qos_change" */ FROM "fairmill_qos_change" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" > ?

-- name: future_share_state
DELETE /*! "fairmill_share_state" */ FROM "fairmill_share_state" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "last_as_of" > ?

-- name: future_findings
DELETE /*! "fairmill_finding" */ FROM "fairmill_finding" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "last_seen" > ?

-- name: future_kept
DELETE /*! "fairmill_kept" */ FROM "fairmill_kept" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "part" > ? AND "table_name" IN ('fairmill_history', 'fairmill_history_point', 'fairmill_backfill', 'fairmill_association', 'fairmill_share_change',
    'fairmill_qos_change', 'fairmill_fairness')
