-- SPDX-License-Identifier: MIT
-- May fairmill_settings be written?  Writes nothing.
INSERT INTO "fairmill_settings" SELECT * FROM "fairmill_settings" WHERE 1 = 0
