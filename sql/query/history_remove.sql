-- SPDX-License-Identifier: MIT
-- All of a point.
DELETE FROM "fairmill_history" WHERE "cluster" = ? AND "as_of" = ?
