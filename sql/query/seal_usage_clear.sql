-- SPDX-License-Identifier: MIT
-- No sums are kept for a cluster any more.
DELETE FROM "fairmill_seal_usage" WHERE "cluster" = ?
