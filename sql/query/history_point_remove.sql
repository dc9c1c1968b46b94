-- SPDX-License-Identifier: MIT
-- A point that goes.
DELETE /*! "fairmill_history_point" */ FROM "fairmill_history_point" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" = ?
