-- SPDX-License-Identifier: MIT
-- The keys of job rows that were open.
SELECT "job_key" FROM "fairmill_seal_open" WHERE "cluster" = ?
