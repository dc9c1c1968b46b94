-- SPDX-License-Identifier: MIT
-- A deleted cluster has no current rows.
DELETE FROM "fairmill_fairshare" WHERE "cluster" = ?
