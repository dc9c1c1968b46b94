-- SPDX-License-Identifier: MIT
--
-- What an import asks OpenPBS's tables (sql/schema/pbs.sql).

-- name: pbs_file_read
SELECT "name", "bytes", "rows", "digest", "stored" FROM "pbs_file" WHERE "cluster" = ?

-- name: pbs_file_forget
DELETE FROM "pbs_file" WHERE "cluster" = ?

-- name: pbs_job_forget
DELETE FROM "pbs_job" WHERE "cluster" = ?

-- name: pbs_suspension_forget
DELETE FROM "pbs_suspension" WHERE "cluster" = ?

-- name: pbs_job_last
SELECT MAX("job_key") FROM "pbs_job" WHERE "cluster" = ?

-- name: pbs_job_open
-- Runs that have not ended, and since when they are suspended.
SELECT j."job_key", j."job_id", j."euser", j."egroup", j."account", j."project", j."queue", j."ctime",
    j."qtime", j."etime", j."time_start", j."requested",
    (SELECT MAX(s."time_start") FROM "pbs_suspension" s
     WHERE s."cluster" = j."cluster" AND s."job_key" = j."job_key" AND s."time_end" = 0)
FROM "pbs_job" j
WHERE j."cluster" = ? AND j."time_end" = 0

-- name: pbs_group_read
-- The lines of resource_group that hold.
SELECT "name", "parent", "cresgroup", "shares", "place", "since"
FROM "pbs_group"
WHERE "cluster" = ? AND "until" = 0

-- name: pbs_group_end
UPDATE "pbs_group" SET "until" = ? WHERE "cluster" = ? AND "name" = ? AND "until" = 0

-- name: pbs_group_count
SELECT COUNT(*) FROM "pbs_group" WHERE "cluster" = ?

-- name: pbs_entity_read
SELECT "name", "id_assoc" FROM "pbs_entity" WHERE "cluster" = ?
