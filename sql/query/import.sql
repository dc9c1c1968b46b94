-- SPDX-License-Identifier: MIT
--
-- Queries of an import on the OpenPBS tables (sql/schema/pbs.sql).  A row of pbs_job is one
-- execution of a job.  A job that is rerun has several executions.

-- name: pbs_file_read
SELECT "name", "bytes", "rows", "digest", "stored" FROM "pbs_file" WHERE "cluster" = ?

-- name: pbs_file_forget
DELETE FROM "pbs_file" WHERE "cluster" = ?

-- name: pbs_job_forget
DELETE FROM "pbs_job" WHERE "cluster" = ?

-- name: pbs_suspension_forget
DELETE FROM "pbs_suspension" WHERE "cluster" = ?

-- name: pbs_job_last
-- The highest key of job executions and of pending jobs.
SELECT MAX(k."job_key")
FROM (SELECT MAX(j."job_key") AS "job_key" FROM "pbs_job" j WHERE j."cluster" = ?
      UNION ALL
      SELECT MAX(q."job_key") FROM "pbs_queued" q WHERE q."cluster" = ?) k

-- name: pbs_job_open
-- Job executions that have not ended, and the start of their current suspension.
SELECT j."job_key", j."job_id", j."euser", j."egroup", j."account", j."project", j."queue", j."ctime",
    j."qtime", j."etime", j."time_start", j."requested",
    (SELECT MAX(s."time_start") FROM "pbs_suspension" s
     WHERE s."cluster" = j."cluster" AND s."job_key" = j."job_key" AND s."time_end" = 0), j."state"
FROM "pbs_job" j
WHERE j."cluster" = ? AND j."time_end" = 0

-- name: pbs_job_twins
-- Job executions with a key from the argument on that duplicate an execution with a smaller key.
-- The two have the same job and the same start.  Or they have the same end, and the one with the
-- smaller key started earlier: after a restart from a checkpoint, the record of the end has the
-- time of the restart as its start.  If an execution ended with a rerun in the second of its start,
-- a further execution with the same start is a duplicate only if it ended with a rerun, too.
-- COALESCE prevents SQLite from reading all rows of the cluster for each execution.  With a join,
-- PostgreSQL would read all rows for each log.
SELECT t."first_key", t."job_key", t."first_state", t."state"
FROM (SELECT n."job_key", n."state",
         (SELECT o."job_key" FROM "pbs_job" o
             WHERE o."job_id" = n."job_id" AND o."time_start" <= n."time_start"
                 AND (o."time_start" = n."time_start"
                      OR (o."time_end" = n."time_end" AND n."time_start" < n."time_end"))
                 AND COALESCE(o."cluster", '') = n."cluster" AND o."job_key" < n."job_key"
                 AND NOT (o."state" = 'rerun' AND o."time_end" = o."time_start" AND n."state" <> 'rerun')
             ORDER BY CASE o."state" WHEN 'aborted' THEN 1 ELSE 0 END, o."job_key" LIMIT 1) AS "first_key",
         (SELECT o."state" FROM "pbs_job" o
             WHERE o."job_id" = n."job_id" AND o."time_start" <= n."time_start"
                 AND (o."time_start" = n."time_start"
                      OR (o."time_end" = n."time_end" AND n."time_start" < n."time_end"))
                 AND COALESCE(o."cluster", '') = n."cluster" AND o."job_key" < n."job_key"
                 AND NOT (o."state" = 'rerun' AND o."time_end" = o."time_start" AND n."state" <> 'rerun')
             ORDER BY CASE o."state" WHEN 'aborted' THEN 1 ELSE 0 END, o."job_key" LIMIT 1) AS "first_state"
      FROM "pbs_job" n
      WHERE n."cluster" = ? AND n."job_key" >= ?) t
WHERE t."first_key" IS NOT NULL

-- name: pbs_job_index_mysql
SELECT COUNT(*) FROM information_schema.statistics
WHERE table_schema = DATABASE() AND table_name = 'pbs_job' AND index_name = 'pbs_job_id'

-- name: pbs_job_add_index
CREATE INDEX "pbs_job_id" ON "pbs_job" ("job_id", "time_start")

-- name: pbs_job_remove
DELETE FROM "pbs_job" WHERE "cluster" = ? AND "job_key" = ?

-- name: pbs_suspension_remove
DELETE FROM "pbs_suspension" WHERE "cluster" = ? AND "job_key" = ?

-- name: pbs_refused_read
SELECT "name", "row", "text" FROM "pbs_refused" WHERE "cluster" = ? ORDER BY "name", "row"

-- name: pbs_refused_remove
DELETE FROM "pbs_refused" WHERE "cluster" = ? AND "name" = ? AND "row" = ?

-- name: pbs_refused_forget
DELETE FROM "pbs_refused" WHERE "cluster" = ?

-- name: pbs_group_read
-- The current lines of resource_group.
SELECT "name", "parent", "cresgroup", "shares", "place"
FROM "pbs_group"
WHERE "cluster" = ? AND "until" = 0

-- name: pbs_group_end
UPDATE "pbs_group" SET "until" = ? WHERE "cluster" = ? AND "name" = ? AND "until" = 0

-- name: pbs_group_last
-- The last time at which a line was added or removed, or NULL.
SELECT MAX(CASE WHEN "until" > "since" THEN "until" ELSE "since" END)
FROM "pbs_group"
WHERE "cluster" = ?

-- name: pbs_change_last
-- The last time at which the tree or a setting changed.
SELECT MAX(c."at")
FROM (SELECT MAX(CASE WHEN g."until" > g."since" THEN g."until" ELSE g."since" END) AS "at"
      FROM "pbs_group" g WHERE g."cluster" = ?
      UNION ALL
      SELECT MAX(s."since") FROM "pbs_setting" s WHERE s."cluster" = ?) c

-- name: pbs_entity_read
SELECT "name", "id_assoc", "first_seen" FROM "pbs_entity" WHERE "cluster" = ?

-- name: pbs_setting_read
SELECT "name", "since", "value" FROM "pbs_setting" WHERE "cluster" = ? ORDER BY "name", "since"

-- name: pbs_seen_read
SELECT "kind", "name", "first_seen" FROM "pbs_seen" WHERE "cluster" = ?

-- name: pbs_seen_forget
-- Remove names found in jobs, but keep names from the usage file.
DELETE FROM "pbs_seen" WHERE "cluster" = ? AND "kind" <> 'usage'

-- name: pbs_usage_forget
DELETE FROM "pbs_usage" WHERE "cluster" = ? AND "as_of" = ?

-- name: pbs_queued_read
SELECT "job_id", "job_key" FROM "pbs_queued" WHERE "cluster" = ?

-- name: pbs_queued_forget
DELETE FROM "pbs_queued" WHERE "cluster" = ?

-- name: pbs_queue_forget
DELETE FROM "pbs_queue" WHERE "cluster" = ?
