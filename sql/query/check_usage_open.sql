-- SPDX-License-Identifier: MIT
-- May fairmill_usage_open be written?  Writes nothing.
INSERT INTO "fairmill_usage_open" SELECT * FROM "fairmill_usage_open" WHERE 1 = 0
