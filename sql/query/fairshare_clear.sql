-- SPDX-License-Identifier: MIT
-- Make room for a cluster's new rows; a deleted cluster has none.
DELETE FROM "fairmill_fairshare" WHERE "cluster" = ?
