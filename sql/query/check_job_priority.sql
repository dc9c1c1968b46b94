-- SPDX-License-Identifier: MIT
-- May fairmill_job_priority be written?  Writes nothing.
INSERT INTO "fairmill_job_priority" SELECT * FROM "fairmill_job_priority" WHERE 1 = 0
