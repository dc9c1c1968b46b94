-- SPDX-License-Identifier: MIT
--
-- Runs and their settings.

-- name: run_find
-- Returns a row if a run was published.
SELECT "run_id" FROM "fairmill_run" WHERE "cluster" = ? AND "run_id" = ? AND "status" = 'done'

-- name: run_times
-- The start times of the last ten runs that published a cluster, the newest first.
SELECT "started_at"
FROM "fairmill_run"
WHERE "cluster" = ? AND "status" = 'done'
ORDER BY "run_id" DESC
LIMIT 10

-- name: run_newest
-- The newest time that the last published run found in the accounting database, or -1 if it found
-- none.
SELECT COALESCE("source_newest", -1)
FROM "fairmill_run"
WHERE "cluster" = ? AND "status" = 'done'
ORDER BY "run_id" DESC
LIMIT 1

-- name: run_instants
-- The times for which a cluster was published, the newest run first: at most 11 times, which give
-- ten intervals.
SELECT "as_of"
FROM "fairmill_run"
WHERE "cluster" = ? AND "status" = 'done'
ORDER BY "run_id" DESC
LIMIT 11

-- name: run_old
-- The oldest runs of a cluster, at most 500.  Leaves out the run that published last, even if the
-- cluster was retired afterwards.  Also leaves out runs with a start time in the future.
SELECT "run_id", "started_at"
FROM "fairmill_run"
WHERE "cluster" = ? AND "started_at" <= ? AND "run_id" <> COALESCE((
    SELECT d."run_id" FROM "fairmill_run" d
    WHERE d."cluster" = ? AND d."status" = 'done'
    ORDER BY d."run_id" DESC LIMIT 1), 0)
ORDER BY "run_id"
LIMIT 500

-- name: run_remove
-- Remove runs; a list of run_ids follows.
DELETE /*! "fairmill_run" */ FROM "fairmill_run" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "run_id"

-- name: settings_text
-- The text of settings.
SELECT "text" FROM "fairmill_settings" WHERE "digest" = ?

-- name: settings_add
-- Add settings that no run had before.
INSERT INTO "fairmill_settings" ("digest", "text") VALUES (?, ?)

-- name: settings_mend
-- Replace a damaged text.
UPDATE "fairmill_settings" SET "text" = ? WHERE "digest" = ?

-- name: settings_last
-- The settings of the last successful run of each cluster; the text is NULL if it is missing.
SELECT DISTINCT r."settings_digest", s."text"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = (
    SELECT d."run_id" FROM "fairmill_run" d
    WHERE d."cluster" = l."cluster" AND d."status" = 'done'
    ORDER BY d."run_id" DESC LIMIT 1)
LEFT JOIN "fairmill_settings" s ON s."digest" = r."settings_digest"

-- name: settings_of_runs
-- The settings of the runs of a cluster.
SELECT DISTINCT "settings_digest" FROM "fairmill_run" WHERE "cluster" = ?

-- name: settings_used
-- A run of any cluster with these settings.
SELECT "run_id" FROM "fairmill_run" WHERE "settings_digest" = ? LIMIT 1

-- name: settings_remove
-- Remove settings that no run uses.
DELETE FROM "fairmill_settings" WHERE "digest" = ?
