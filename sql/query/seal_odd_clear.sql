-- SPDX-License-Identifier: MIT
-- No findings are kept for a cluster any more.
DELETE FROM "fairmill_seal_odd" WHERE "cluster" = ?
