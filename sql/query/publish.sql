-- SPDX-License-Identifier: MIT
--
-- What a publication replaces, and the lock by which only one run publishes a cluster.

-- name: counter_make
-- Make the row that counts runs, from the last run that is recorded.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT '', r."run_id", ''
FROM (SELECT COALESCE(MAX("run_id"), 0) AS "run_id" FROM "fairmill_run") r
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = '')

-- name: counter_step
-- Take the next run_id: changes the row, unless somebody else has taken it since it was read.
UPDATE "fairmill_lock" SET "run_id" = "run_id" + 1 WHERE "cluster" = '' AND "run_id" = ?

-- name: fence_make
-- A cluster's row in the fence, before its first run.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT ?, 0, ''
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = ?)

-- name: fence_read
-- Which run published a cluster last.
SELECT "run_id" FROM "fairmill_lock" WHERE "cluster" = ?

-- name: fence_source
-- Where a cluster's rows came from; '' where it has no rows any more.
SELECT "source" FROM "fairmill_lock" WHERE "cluster" = ?

-- name: fence_sources
-- The clusters that have rows, and where these came from.
SELECT "cluster", "source" FROM "fairmill_lock" WHERE "cluster" <> '' AND "run_id" > 0 AND "source" <> ''

-- name: fence_failed
-- The clusters that have no rows, and of which runs have failed since they were retired, or from the beginning.
SELECT l."cluster", l."source" FROM "fairmill_lock" l
WHERE l."cluster" <> '' AND l."source" = '' AND EXISTS (
    SELECT 1 FROM "fairmill_run" r WHERE r."cluster" = l."cluster" AND r."run_id" > l."run_id")

-- name: fence_step
-- Publish: changes one row, unless somebody else published in between.
UPDATE "fairmill_lock" SET "run_id" = ?, "source" = ? WHERE "cluster" = ? AND "run_id" = ?

-- name: tree_clear
-- Remove a cluster's associations, before those are written that there are now.
DELETE /*! "fairmill_tree" */ FROM "fairmill_tree" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: tree_part
-- A cluster's associations from one to another, as a run wrote them.
SELECT "id_assoc", "parent_id", "depth", "account", "user_name", "partition_name", "shares",
    "shares_norm", "level_shares_norm", "tie_order", "grp_tres_mins", "pbs_own",
    "usage_is_set"
FROM "fairmill_tree"
WHERE "cluster" = ? AND "id_assoc" >= ? AND "id_assoc" <= ?

-- name: value_clear
-- And their values.
DELETE /*! "fairmill_value" */ FROM "fairmill_value" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: value_count
-- How many associations of a cluster have values.
SELECT COUNT(*) FROM "fairmill_value" WHERE "cluster" = ?

-- name: value_strays
-- Remove values of nobody.
DELETE FROM "fairmill_value"
WHERE "cluster" = ? AND NOT EXISTS (
    SELECT 1 FROM "fairmill_tree" t WHERE t."cluster" = "fairmill_value"."cluster" AND t."id_assoc" = "fairmill_value"."id_assoc")

-- name: job_priority_clear
-- Remove the jobs of a cluster's queue, before the new ones are written.
DELETE /*! "fairmill_job_priority" */ FROM "fairmill_job_priority" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: job_term_clear
-- And what their formula's names stood for.
DELETE /*! "fairmill_job_term" */ FROM "fairmill_job_term" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: finding_read
-- A cluster's findings.
SELECT "kind", "subject", "first_seen", "last_seen", "count", "detail"
FROM "fairmill_finding"
WHERE "cluster" = ?

-- name: finding_find
-- Whether a cluster has a finding of a kind.
SELECT 1 FROM "fairmill_finding" WHERE "cluster" = ? AND "kind" = ? LIMIT 1

-- name: finding_clear
-- Remove a cluster's findings, before the merged ones are written.
DELETE /*! "fairmill_finding" */ FROM "fairmill_finding" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: finding_end
-- Remove a cluster's findings of a kind.
DELETE /*! "fairmill_finding" */ FROM "fairmill_finding" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "kind" = ?

-- name: finding_prune
-- Remove findings that were last seen long ago.
DELETE /*! "fairmill_finding" */ FROM "fairmill_finding" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "last_seen" < ?
