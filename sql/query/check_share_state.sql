-- SPDX-License-Identifier: MIT
-- May fairmill_share_state be written?  Writes nothing.
INSERT INTO "fairmill_share_state" SELECT * FROM "fairmill_share_state" WHERE 1 = 0
