-- SPDX-License-Identifier: MIT
-- May fairmill_seal_usage be written?  Writes nothing.
INSERT INTO "fairmill_seal_usage" SELECT * FROM "fairmill_seal_usage" WHERE 1 = 0
