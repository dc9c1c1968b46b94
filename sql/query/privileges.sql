-- SPDX-License-Identifier: MIT
--
-- Who may see what others have.

-- name: privileges_of
-- The accounts whose users' values a user may see; '' is all.
SELECT "account" FROM "fairmill_privilege" WHERE "cluster" = ? AND "user_name" = ?

-- name: privilege_read
-- All of a cluster.
SELECT "user_name", "account", "privilege" FROM "fairmill_privilege" WHERE "cluster" = ?

-- name: privilege_clear
DELETE /*! "fairmill_privilege" */ FROM "fairmill_privilege" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
