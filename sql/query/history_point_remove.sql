-- SPDX-License-Identifier: MIT
-- A point that goes.
DELETE FROM "fairmill_history_point" WHERE "cluster" = ? AND "as_of" = ?
