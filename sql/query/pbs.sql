-- SPDX-License-Identifier: MIT
--
-- Queries of the source type pbs (sql/schema/pbs.sql).  A row of pbs_job is one execution of a
-- job.  A job that is rerun has several executions.

-- name: pbs_clusters
SELECT DISTINCT "cluster", 0 FROM "pbs_entity"

-- name: pbs_setting_as_of
SELECT "name", "value" FROM "pbs_setting" WHERE "cluster" = ? AND "since" <= ? ORDER BY "since"

-- name: pbs_group_as_of
-- The lines of resource_group that were valid at a time, in order.
SELECT g."name", e."id_assoc", g."parent", g."shares"
FROM "pbs_group" g
INNER JOIN "pbs_entity" e ON e."cluster" = g."cluster" AND e."name" = g."name"
WHERE g."cluster" = ? AND g."since" <= ? AND (g."until" = 0 OR g."until" > ?)
ORDER BY g."place"

-- name: pbs_seen_as_of
-- Names of one kind, and names in the usage file, that an import had read by a given time.
SELECT s."name", e."id_assoc"
FROM "pbs_seen" s
INNER JOIN "pbs_entity" e ON e."cluster" = s."cluster" AND e."name" = s."name"
WHERE s."cluster" = ? AND s."kind" IN (?, 'usage') AND s."first_seen" <= ?
ORDER BY e."id_assoc"

-- name: pbs_entity_all
SELECT "name", "id_assoc" FROM "pbs_entity" WHERE "cluster" = ?

-- name: pbs_job_since
-- Job executions, with the number of seconds for which each execution had been suspended by a given
-- time.  The first two arguments are that time.
SELECT j."job_key", j."job_id", j."euser", j."egroup", j."account", j."queue", j."time_start", j."time_end",
    j."requested", j."used", p."suspended", j."qtime", j."etime"
FROM "pbs_job" j
LEFT JOIN (
    SELECT s."job_key", SUM(
        CASE WHEN s."time_end" = 0 OR s."time_end" > ? THEN ? ELSE s."time_end" END - s."time_start"
    ) AS "suspended"
    FROM "pbs_suspension" s
    WHERE s."cluster" = ? AND s."time_start" < ?
    GROUP BY s."job_key"
) p ON p."job_key" = j."job_key"
WHERE j."cluster" = ? AND j."time_start" > 0 AND (j."time_end" = 0 OR j."time_end" >= ?)

-- name: pbs_suspension_since
-- Suspensions, with their job executions and with the same number of suspended seconds as in
-- pbs_job_since.  Suspensions of the same execution are adjacent.
SELECT j."job_key", j."job_id", j."euser", j."egroup", j."account", j."queue", j."time_start", j."time_end",
    j."requested", j."used", p."suspended", t."time_start", t."time_end"
FROM "pbs_suspension" t
INNER JOIN "pbs_job" j ON j."cluster" = t."cluster" AND j."job_key" = t."job_key"
INNER JOIN (
    SELECT s."job_key", SUM(
        CASE WHEN s."time_end" = 0 OR s."time_end" > ? THEN ? ELSE s."time_end" END - s."time_start"
    ) AS "suspended"
    FROM "pbs_suspension" s
    WHERE s."cluster" = ? AND s."time_start" < ?
    GROUP BY s."job_key"
) p ON p."job_key" = j."job_key"
WHERE j."cluster" = ? AND j."time_start" > 0 AND (j."time_end" = 0 OR j."time_end" >= ?)
    AND t."time_start" < ?
ORDER BY t."job_key", t."time_start"

-- name: pbs_job_ends
SELECT MIN("time_end"), MAX("time_end")
FROM "pbs_job"
WHERE "cluster" = ? AND "time_end" > ? AND "time_end" <= ? AND "time_start" > 0
    AND "time_end" >= "time_start"

-- name: pbs_usage_newest
-- The time of the last usage file up to a given time, and the time of the last decay in it.
SELECT "as_of", MAX("last_decay") FROM "pbs_usage"
WHERE "cluster" = ? AND "as_of" = (
    SELECT MAX("as_of") FROM "pbs_usage" WHERE "cluster" = ? AND "as_of" <= ?)
GROUP BY "as_of"

-- name: pbs_usage_of
SELECT e."id_assoc", u."usage"
FROM "pbs_usage" u
INNER JOIN "pbs_entity" e ON e."cluster" = u."cluster" AND e."name" = u."name"
WHERE u."cluster" = ? AND u."as_of" = ? AND u."usage" > 0

-- name: pbs_queued_as_of
-- The jobs that were pending when the output of qstat or the database of the server was last read.
-- Leaves out jobs that have started or ended since that time, according to the logs.
SELECT q."job_key", q."job_id", q."state", q."euser", q."egroup", q."account", q."queue",
    q."eligible_time", q."job_priority", p."priority", q."requested", q."qtime",
    q."etime"
FROM "pbs_queued" q
LEFT JOIN "pbs_queue" p ON p."cluster" = q."cluster" AND p."name" = q."queue"
WHERE q."cluster" = ? AND q."as_of" <= ? AND q."job_id" NOT IN (
    SELECT r."job_id" FROM "pbs_job" r
    INNER JOIN (SELECT MAX("as_of") AS "at" FROM "pbs_queued" WHERE "cluster" = ?) w ON 1 = 1
    WHERE r."cluster" = ? AND r."time_start" <= ?
        AND (r."time_end" > w."at" OR (r."time_end" = 0 AND r."time_start" >= w."at"))
)
ORDER BY q."job_key"

-- name: pbs_job_named
-- The job id of a job execution.
SELECT "job_id" FROM "pbs_job" WHERE "cluster" = ? AND "job_key" = ?

-- name: pbs_refused_lines
SELECT "name", "row" FROM "pbs_refused" WHERE "cluster" = ? ORDER BY "name", "row"
