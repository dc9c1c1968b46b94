-- SPDX-License-Identifier: MIT
-- May fairmill_seal_finding be written?  Writes nothing.
INSERT INTO "fairmill_seal_finding" SELECT * FROM "fairmill_seal_finding" WHERE 1 = 0
