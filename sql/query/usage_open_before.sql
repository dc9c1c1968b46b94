-- SPDX-License-Identifier: MIT
-- Forget what unsealed jobs added to days before one.
DELETE FROM "fairmill_usage_open" WHERE "cluster" = ? AND "day" < ?
