-- SPDX-License-Identifier: MIT
--
-- The messages that `fairmill notify` sent.

-- name: notices_read
-- All rows of a cluster.
SELECT "kind", "id_assoc", "subject", "recipient" FROM "fairmill_notice" WHERE "cluster" = ?

-- name: notice_end
-- Removes the rows of a threshold after the value was below it.
DELETE FROM "fairmill_notice"
WHERE "cluster" = ? AND "kind" = ? AND "id_assoc" = ? AND "subject" = ?

-- name: notice_clear
DELETE FROM "fairmill_notice" WHERE "cluster" = ?
