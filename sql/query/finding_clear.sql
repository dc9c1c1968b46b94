-- SPDX-License-Identifier: MIT
-- Make room for a cluster's findings.
DELETE /*! "fairmill_finding" */ FROM "fairmill_finding" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
