-- SPDX-License-Identifier: MIT
-- All of a point.
DELETE /*! "fairmill_history" */ FROM "fairmill_history" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "as_of" = ?
