-- SPDX-License-Identifier: MIT
-- May fairmill_run be written?  Writes nothing.
INSERT INTO "fairmill_run" SELECT * FROM "fairmill_run" WHERE 1 = 0
