-- SPDX-License-Identifier: MIT
-- No findings are kept for a cluster any more.
DELETE /*! "fairmill_seal_odd" */ FROM "fairmill_seal_odd" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
