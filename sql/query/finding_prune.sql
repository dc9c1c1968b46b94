-- SPDX-License-Identifier: MIT
-- What was odd long ago.
DELETE FROM "fairmill_finding" WHERE "cluster" = ? AND "last_seen" < ?
