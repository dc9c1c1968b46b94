-- SPDX-License-Identifier: MIT
--
-- The checkpoint: stored sums of jobs that ended long ago.

-- name: seal_read
-- The row of a cluster in fairmill_seal, which describes its checkpoint.
SELECT "as_of", "full_as_of", "cutoff", "sealed_to", "counts_from", "jobs_from", "oldest_end",
    "first_charge", "newest_end", "sums_hash", "open_hash", "checked_to", "source", "basis", "hash"
FROM "fairmill_seal"
WHERE "cluster" = ?

-- name: seal_usage_read
-- The usage sums in the checkpoint of a cluster.
SELECT "id_assoc", "sum_3", "sum_2", "sum_1", "sum_0", "tres" FROM "fairmill_seal_usage" WHERE "cluster" = ?

-- name: seal_open_read
-- The keys of job rows that were open when the checkpoint was made.
SELECT "job_key" FROM "fairmill_seal_open" WHERE "cluster" = ?

-- name: seal_odd_read
-- The findings about jobs in the checkpoint.
SELECT "kind", "subject", "time_end", "detail", "jobs", "first_start", "last_start"
FROM "fairmill_seal_odd" WHERE "cluster" = ?

-- name: seal_slice_read
-- The hashes of job rows in the checkpoint.
SELECT "day", "row_count", "hash" FROM "fairmill_seal_slice" WHERE "cluster" = ?

-- name: seal_slice_clear
-- Remove the hashes of job rows.
DELETE /*! "fairmill_seal_slice" */ FROM "fairmill_seal_slice" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: seal_slice_remove
-- Remove the hashes of some days; a list of days follows.
DELETE /*! "fairmill_seal_slice" */ FROM "fairmill_seal_slice" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day"

-- name: seal_clear
-- Remove the row of a cluster from fairmill_seal.
DELETE /*! "fairmill_seal" */ FROM "fairmill_seal" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: seal_usage_clear
-- Remove the usage sums in the checkpoint of a cluster.
DELETE /*! "fairmill_seal_usage" */ FROM "fairmill_seal_usage" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: seal_open_clear
-- Remove a cluster's keys of job rows that were open.
DELETE /*! "fairmill_seal_open" */ FROM "fairmill_seal_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: seal_open_remove
-- Remove keys of job rows; a list of keys follows.
DELETE /*! "fairmill_seal_open" */ FROM "fairmill_seal_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "job_key"

-- name: seal_odd_clear
-- Remove a cluster's findings about jobs in the checkpoint.
DELETE /*! "fairmill_seal_odd" */ FROM "fairmill_seal_odd" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?

-- name: seal_usage_expire
-- Remove the usage of QOS on days that are too long ago.
DELETE /*! "fairmill_seal_usage" */ FROM "fairmill_seal_usage" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "id_assoc" >= ? AND "id_assoc" < ?
