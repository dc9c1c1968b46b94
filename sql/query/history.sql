-- SPDX-License-Identifier: MIT
--
-- History points, and the names of associations at these points.

-- name: history_point
-- The first point in an interval.
SELECT MIN("as_of") FROM "fairmill_history_point" WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" < ?

-- name: history_oldest
-- The oldest point of a cluster.
SELECT MIN("as_of") FROM "fairmill_history_point" WHERE "cluster" = ?

-- name: history_last
-- The newest point of a cluster.
SELECT MAX("as_of") FROM "fairmill_history_point" WHERE "cluster" = ?

-- name: history_points_read
-- The times of all points of a cluster.
SELECT "as_of" FROM "fairmill_history_point" WHERE "cluster" = ? ORDER BY "as_of"

-- name: history_backfill_read
-- The times of points that backfill computed.
SELECT "as_of" FROM "fairmill_backfill" WHERE "cluster" = ? ORDER BY "as_of"

-- name: history_lacking
-- The number of clusters that have usage of days before a time, but no point before that time.
SELECT COUNT(*) FROM "fairmill_lock" l
WHERE EXISTS (SELECT 1 FROM "fairmill_usage_day" d WHERE d."cluster" = l."cluster" AND d."day" < ?)
    AND NOT EXISTS (SELECT 1 FROM "fairmill_history_point" p WHERE p."cluster" = l."cluster" AND p."as_of" < ?)

-- name: history_point_associations
-- The hash of the associations at the last point up to a time.
SELECT "associations"
FROM "fairmill_history_point"
WHERE "cluster" = ? AND "as_of" <= ?
ORDER BY "as_of" DESC
LIMIT 1

-- name: history_read
-- The values of an association at the points of an interval.  CROSS JOIN makes SQLite read the
-- points first, and then one row for each point.  With a plain JOIN, SQLite would read the rows of
-- all associations.
SELECT h."as_of", h."fairshare", h."usage_raw", h."level_fs", p."algorithm"
FROM "fairmill_history_point" p
CROSS JOIN "fairmill_history" h
WHERE h."cluster" = p."cluster" AND h."as_of" = p."as_of" AND h."id_assoc" = ?
AND p."cluster" = ? AND p."as_of" >= ? AND p."as_of" <= ?
ORDER BY p."as_of"

-- name: history_point_add
-- Add a point.
INSERT INTO "fairmill_history_point" ("cluster", "as_of", "algorithm", "associations") VALUES (?, ?, ?, ?)

-- name: history_point_doubt
-- Remove the hashes of later points, because the names at an earlier point have changed.
UPDATE "fairmill_history_point" SET "associations" = 0 WHERE "cluster" = ? AND "as_of" > ?

-- name: history_remove
-- Remove the values of a point.
DELETE /*! "fairmill_history" */ FROM "fairmill_history" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" = ?

-- name: history_point_remove
-- Remove a point.
DELETE /*! "fairmill_history_point" */ FROM "fairmill_history_point" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" = ?

-- name: fairness_oldest
-- The oldest time with fairness values.
SELECT MIN("as_of") FROM "fairmill_fairness" WHERE "cluster" = ?

-- name: fairness_remove
-- Remove the fairness values of a time.
DELETE /*! "fairmill_fairness" */ FROM "fairmill_fairness" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" = ?

-- name: history_backfill_remove
-- Remove the record that backfill computed a point.
DELETE /*! "fairmill_backfill" */ FROM "fairmill_backfill" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" = ?

-- name: association_next_cluster
-- The next cluster that has names of associations.
SELECT MIN("cluster") FROM "fairmill_association" WHERE "cluster" > ?

-- name: association_of_user
-- The associations of a user at any time.
SELECT "id_assoc" FROM "fairmill_association" WHERE "cluster" = ? AND "user_name" = ?

-- name: association_of_name
-- The associations of a user with an account at any time, or of an account, whose user is ''.
SELECT "id_assoc" FROM "fairmill_association" WHERE "cluster" = ? AND "user_name" = ? AND "account" = ?

-- name: association_states
-- The names of the associations of a cluster.  A condition on the ids, if any, and ORDER BY are
-- appended.
SELECT "cluster", "id_assoc", "parent_id", "account", "user_name", "partition_name"
FROM "fairmill_association"
WHERE "cluster" = ?

-- name: association_names
-- All names of the associations of a cluster; for each association, the oldest name first.
SELECT "id_assoc", "parent_id", "account", "user_name", "partition_name", "since"
FROM "fairmill_association"
WHERE "cluster" = ?
ORDER BY "id_assoc", "since"

-- name: association_remove
-- Remove the names that begin at a time.
DELETE /*! "fairmill_association" */ FROM "fairmill_association" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "since" = ?
