-- SPDX-License-Identifier: MIT
-- What was found to have changed at an instant.
DELETE /*! "fairmill_association" */ FROM "fairmill_association" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "since" = ?
