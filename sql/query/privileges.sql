-- SPDX-License-Identifier: MIT
--
-- Users who may see private values of other users.

-- name: privileges_of
-- The accounts whose users are visible to a user; an empty name means all.
SELECT "account" FROM "fairmill_privilege" WHERE "cluster" = ? AND "user_name" = ?

-- name: privileges_recorded
-- The settings of the last run that published each cluster, and 1 if the results of that run are
-- still published, or 0 if not.
SELECT l."cluster", CASE WHEN r."run_id" = l."run_id" THEN 1 ELSE 0 END, s."text"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = (
    SELECT d."run_id" FROM "fairmill_run" d
    WHERE d."cluster" = l."cluster" AND d."status" = 'done'
    ORDER BY d."run_id" DESC LIMIT 1)
LEFT JOIN "fairmill_settings" s ON s."digest" = r."settings_digest"
ORDER BY l."cluster"

-- name: privilege_read
-- All rows of a cluster.
SELECT "user_name", "account", "privilege" FROM "fairmill_privilege" WHERE "cluster" = ?

-- name: privilege_clear
DELETE /*! "fairmill_privilege" */ FROM "fairmill_privilege" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ?
