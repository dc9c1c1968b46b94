-- SPDX-License-Identifier: MIT
-- May fairmill_history be written?  Writes nothing.
INSERT INTO "fairmill_history" SELECT * FROM "fairmill_history" WHERE 1 = 0
