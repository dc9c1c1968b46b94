-- SPDX-License-Identifier: MIT
-- What was odd long ago.
DELETE /*! "fairmill_finding" */ FROM "fairmill_finding" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "last_seen" < ?
