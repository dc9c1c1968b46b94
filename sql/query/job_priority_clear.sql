-- SPDX-License-Identifier: MIT
-- Make room for the jobs of a cluster's queue; a deleted cluster has none.
DELETE /*! "fairmill_job_priority" */ FROM "fairmill_job_priority" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
