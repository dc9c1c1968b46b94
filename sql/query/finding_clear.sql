-- SPDX-License-Identifier: MIT
-- Make room for a cluster's findings.
DELETE FROM "fairmill_finding" WHERE "cluster" = ?
