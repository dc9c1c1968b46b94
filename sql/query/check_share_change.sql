-- SPDX-License-Identifier: MIT
-- May fairmill_share_change be written?  Writes nothing.
INSERT INTO "fairmill_share_change" SELECT * FROM "fairmill_share_change" WHERE 1 = 0
