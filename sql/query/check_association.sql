-- SPDX-License-Identifier: MIT
-- May fairmill_association be written?  Writes nothing.
INSERT INTO "fairmill_association" SELECT * FROM "fairmill_association" WHERE 1 = 0
