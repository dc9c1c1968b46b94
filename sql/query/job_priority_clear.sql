-- SPDX-License-Identifier: MIT
-- Make room for the jobs of a cluster's queue; a deleted cluster has none.
DELETE FROM "fairmill_job_priority" WHERE "cluster" = ?
