-- SPDX-License-Identifier: MIT
-- The oldest point.
SELECT MIN("as_of") FROM "fairmill_history_point" WHERE "cluster" = ?
