-- SPDX-License-Identifier: MIT
-- May fairmill_finding be written?  Writes nothing.
INSERT INTO "fairmill_finding" SELECT * FROM "fairmill_finding" WHERE 1 = 0
