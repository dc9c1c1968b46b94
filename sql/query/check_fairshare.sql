-- SPDX-License-Identifier: MIT
-- May fairmill_fairshare be written?  Writes nothing.
INSERT INTO "fairmill_fairshare" SELECT * FROM "fairmill_fairshare" WHERE 1 = 0
