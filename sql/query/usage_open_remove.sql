-- SPDX-License-Identifier: MIT
-- What no unsealed job adds to any more; a list of associations follows.
DELETE FROM "fairmill_usage_open" WHERE "cluster" = ? AND "day" = ? AND "id_assoc"
