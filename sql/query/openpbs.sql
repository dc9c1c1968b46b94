-- SPDX-License-Identifier: MIT
--
-- Queries on the database of the OpenPBS server, which is always PostgreSQL.  Attributes are an
-- hstore with keys of the form `name` or `name.resource` and values of the form `flags.value` (see
-- its pbs_db_schema.sql).

-- name: openpbs_job
SELECT j."ji_jobid", j."ji_state", j."ji_queue", a."key", a."value"
FROM "pbs"."job" j LEFT JOIN LATERAL each(j."attributes") a ON TRUE
ORDER BY j."ji_jobid"

-- name: openpbs_queue
SELECT q."qu_name", q."attributes" -> 'Priority' FROM "pbs"."queue" q

-- name: openpbs_server
-- The attributes of the server come last, because the formula of the server takes precedence.
SELECT 1, a."key", a."value"
FROM "pbs"."scheduler" s CROSS JOIN LATERAL each(s."attributes") a
WHERE s."sched_name" = 'default'
UNION ALL
SELECT 2, a."key", a."value" FROM "pbs"."server" s CROSS JOIN LATERAL each(s."attributes") a
ORDER BY 1
