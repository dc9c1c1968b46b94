-- SPDX-License-Identifier: MIT
--
-- What a publication replaces, and the lock by which only one run publishes a cluster.

-- name: counter_make
-- The row that counts runs, on from those that are on record.
INSERT INTO "fairmill_lock" ("cluster", "run_id", "source")
SELECT '', r."run_id", ''
FROM (SELECT COALESCE(MAX("run_id"), 0) AS "run_id" FROM "fairmill_run") r
WHERE NOT EXISTS (SELECT 1 FROM "fairmill_lock" WHERE "cluster" = '')

-- name: counter_step
-- Take the next run_id: hits the row, unless somebody else has taken it since it was read.
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
-- Where a cluster's rows came from; '' where it has none any more.
SELECT "source" FROM "fairmill_lock" WHERE "cluster" = ?

-- name: fence_sources
-- The clusters that have rows, and where these came from.
SELECT "cluster", "source" FROM "fairmill_lock" WHERE "cluster" <> '' AND "run_id" > 0 AND "source" <> ''

-- name: fence_step
-- Publish: hits one row, unless somebody else published in between.
UPDATE "fairmill_lock" SET "run_id" = ?, "source" = ? WHERE "cluster" = ? AND "run_id" = ?

-- name: fairshare_clear
-- Make room for a cluster's new rows; a deleted cluster has none.
DELETE /*! "fairmill_fairshare" */ FROM "fairmill_fairshare" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: job_priority_clear
-- Make room for the jobs of a cluster's queue; a deleted cluster has none.
DELETE /*! "fairmill_job_priority" */ FROM "fairmill_job_priority" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: finding_read
-- A cluster's findings.
SELECT "kind", "subject", "first_seen", "last_seen", "count", "detail"
FROM "fairmill_finding"
WHERE "cluster" = ?

-- name: finding_clear
-- Make room for a cluster's findings.
DELETE /*! "fairmill_finding" */ FROM "fairmill_finding" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: finding_prune
-- What was odd long ago.
DELETE /*! "fairmill_finding" */ FROM "fairmill_finding" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "last_seen" < ?
