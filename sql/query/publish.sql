-- SPDX-License-Identifier: MIT
--
-- Statements of a publication.  The fence is a row of fairmill_lock for each cluster.  It names the
-- run that published the cluster last, so that two runs cannot publish the cluster at once.

-- name: counter_make
-- Add the row that holds the highest run_id, with the run_id of the last recorded run.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT '', r."run_id", ''
FROM (SELECT COALESCE(MAX("run_id"), 0) AS "run_id" FROM "fairmill_run") r
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = '')

-- name: counter_step
-- Take the next run_id.  Changes no row if another run has taken the same run_id in the meantime.
UPDATE "fairmill_lock" SET "run_id" = "run_id" + 1 WHERE "cluster" = '' AND "run_id" = ?

-- name: fence_make
-- Add the row of a cluster to fairmill_lock, before its first run.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT ?, 0, ''
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = ?)

-- name: fence_read
-- The run that published a cluster last.
SELECT "run_id" FROM "fairmill_lock" WHERE "cluster" = ?

-- name: fence_source
-- The identity of the accounting database from which the rows of a cluster were computed, or an
-- empty text if the cluster was retired.
SELECT "source" FROM "fairmill_lock" WHERE "cluster" = ?

-- name: fence_sources
-- The clusters that have current rows, and the identity of their accounting database.
SELECT "cluster", "source" FROM "fairmill_lock" WHERE "cluster" <> '' AND "run_id" > 0 AND "source" <> ''

-- name: fence_failed
-- The clusters without current rows that have failed runs: runs after the cluster was retired, or
-- runs of a cluster that was never published.
SELECT l."cluster", l."source" FROM "fairmill_lock" l
WHERE l."cluster" <> '' AND l."source" = '' AND EXISTS (
    SELECT 1 FROM "fairmill_run" r WHERE r."cluster" = l."cluster" AND r."run_id" > l."run_id")

-- name: fence_step
-- Make this run the run that published the cluster last.  Changes no row if another run has
-- published since this run began.
UPDATE "fairmill_lock" SET "run_id" = ?, "source" = ? WHERE "cluster" = ? AND "run_id" = ?

-- name: tree_clear
-- Remove the associations of a cluster, before the current associations are written.
DELETE /*! "fairmill_tree" */ FROM "fairmill_tree" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: tree_part
-- A range of associations of a cluster, as a run wrote them.
SELECT "id_assoc", "parent_id", "depth", "account", "user_name", "partition_name", "shares",
    "shares_norm", "level_shares_norm", "tie_order", "grp_tres_mins", "pbs_own",
    "usage_is_set"
FROM "fairmill_tree"
WHERE "cluster" = ? AND "id_assoc" >= ? AND "id_assoc" <= ?

-- name: value_clear
-- Remove the values of a cluster.
DELETE /*! "fairmill_value" */ FROM "fairmill_value" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: value_count
-- The number of associations of a cluster that have values.
SELECT COUNT(*) FROM "fairmill_value" WHERE "cluster" = ?

-- name: value_strays
-- Remove values of associations that do not exist.
DELETE FROM "fairmill_value"
WHERE "cluster" = ? AND NOT EXISTS (
    SELECT 1 FROM "fairmill_tree" t WHERE t."cluster" = "fairmill_value"."cluster" AND t."id_assoc" = "fairmill_value"."id_assoc")

-- name: job_priority_clear
-- Remove the pending jobs of a cluster, before the new pending jobs are written.
DELETE /*! "fairmill_job_priority" */ FROM "fairmill_job_priority" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: job_term_clear
-- Remove the values of the names in the formula of a cluster.
DELETE /*! "fairmill_job_term" */ FROM "fairmill_job_term" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: finding_read
-- A cluster's findings.
SELECT "kind", "subject", "first_seen", "last_seen", "count", "detail"
FROM "fairmill_finding"
WHERE "cluster" = ?

-- name: finding_find
-- Returns a row if a cluster has a finding of a kind.
SELECT 1 FROM "fairmill_finding" WHERE "cluster" = ? AND "kind" = ? LIMIT 1

-- name: finding_clear
-- Remove a cluster's findings, before the merged findings are written.
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

-- name: tres_name_read
-- The TRES of a cluster whose usage is kept, with their numbers.
SELECT "number", "tres" FROM "fairmill_tres_name" WHERE "cluster" = ?

-- name: tres_name_clear
-- Remove the names of a cluster's TRES.
DELETE /*! "fairmill_tres_name" */ FROM "fairmill_tres_name" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: budget_clear
-- Remove a cluster's budgets, before new ones are written.
DELETE /*! "fairmill_budget" */ FROM "fairmill_budget" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
