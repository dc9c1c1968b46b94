-- SPDX-License-Identifier: MIT
-- No keys are kept for a cluster any more.
DELETE FROM "fairmill_seal_open" WHERE "cluster" = ?
