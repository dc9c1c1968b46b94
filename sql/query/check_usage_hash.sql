-- SPDX-License-Identifier: MIT
-- May fairmill_usage_hash be written?  Writes nothing.
INSERT INTO "fairmill_usage_hash" SELECT * FROM "fairmill_usage_hash" WHERE 1 = 0
