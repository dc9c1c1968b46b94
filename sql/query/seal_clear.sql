-- SPDX-License-Identifier: MIT
-- Nothing is kept for a cluster any more.
DELETE /*! "fairmill_seal" */ FROM "fairmill_seal" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
