-- SPDX-License-Identifier: MIT
-- May fairmill_seal_open be written?  Writes nothing.
INSERT INTO "fairmill_seal_open" SELECT * FROM "fairmill_seal_open" WHERE 1 = 0
