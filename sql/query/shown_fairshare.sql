-- SPDX-License-Identifier: MIT
-- The published factors of a cluster's associations.
SELECT "id_assoc", "fairshare" FROM "fairmill_fairshare" WHERE "cluster" = ?
