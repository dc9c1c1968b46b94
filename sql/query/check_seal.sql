-- SPDX-License-Identifier: MIT
-- May fairmill_seal be written?  Writes nothing.
INSERT INTO "fairmill_seal" SELECT * FROM "fairmill_seal" WHERE 1 = 0
