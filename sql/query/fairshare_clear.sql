-- SPDX-License-Identifier: MIT
-- Make room for a cluster's new rows; a deleted cluster has none.
DELETE /*! "fairmill_fairshare" */ FROM "fairmill_fairshare" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
