-- SPDX-License-Identifier: MIT
-- No sums are kept for a cluster any more.
DELETE /*! "fairmill_seal_usage" */ FROM "fairmill_seal_usage" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
