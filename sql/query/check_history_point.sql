-- SPDX-License-Identifier: MIT
-- May fairmill_history_point be written?  Writes nothing.
INSERT INTO "fairmill_history_point" SELECT * FROM "fairmill_history_point" WHERE 1 = 0
