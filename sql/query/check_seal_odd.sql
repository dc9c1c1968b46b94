-- SPDX-License-Identifier: MIT
-- May fairmill_seal_odd be written?  Writes nothing.
INSERT INTO "fairmill_seal_odd" SELECT * FROM "fairmill_seal_odd" WHERE 1 = 0
