-- SPDX-License-Identifier: MIT
--
-- Statements of `fairmill forget` that remove rows of a cluster which no other statement removes.

-- name: forget_open
DELETE /*! "fairmill_usage_open" */ FROM "fairmill_usage_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_wait_open
DELETE /*! "fairmill_wait_open" */ FROM "fairmill_wait_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_span
DELETE /*! "fairmill_usage_span" */ FROM "fairmill_usage_span" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_names
DELETE /*! "fairmill_association" */ FROM "fairmill_association" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_changes
DELETE /*! "fairmill_share_change" */ FROM "fairmill_share_change" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_share_past
DELETE /*! "fairmill_share_past" */ FROM "fairmill_share_past" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_factors
DELETE /*! "fairmill_qos_change" */ FROM "fairmill_qos_change" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_share_state
DELETE /*! "fairmill_share_state" */ FROM "fairmill_share_state" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_runs
DELETE /*! "fairmill_run" */ FROM "fairmill_run" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: forget_lock
DELETE /*! "fairmill_lock" */ FROM "fairmill_lock" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
