-- SPDX-License-Identifier: MIT
-- What was found to have changed at an instant.
DELETE FROM "fairmill_association" WHERE "cluster" = ? AND "since" = ?
