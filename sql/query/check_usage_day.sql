-- SPDX-License-Identifier: MIT
-- May fairmill_usage_day be written?  Writes nothing.
INSERT INTO "fairmill_usage_day" SELECT * FROM "fairmill_usage_day" WHERE 1 = 0
