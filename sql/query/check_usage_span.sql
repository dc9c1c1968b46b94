-- SPDX-License-Identifier: MIT
-- May fairmill_usage_span be written?  Writes nothing.
INSERT INTO "fairmill_usage_span" SELECT * FROM "fairmill_usage_span" WHERE 1 = 0
