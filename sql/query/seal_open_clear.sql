-- SPDX-License-Identifier: MIT
-- No keys are kept for a cluster any more.
DELETE /*! "fairmill_seal_open" */ FROM "fairmill_seal_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
