-- SPDX-License-Identifier: MIT
-- Nothing is kept for a cluster any more.
DELETE FROM "fairmill_seal" WHERE "cluster" = ?
