-- SPDX-License-Identifier: MIT
-- The newest point of a cluster.
SELECT MAX("as_of") FROM "fairmill_history_point" WHERE "cluster" = ?
