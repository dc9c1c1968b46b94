-- SPDX-License-Identifier: MIT
-- Associations without usage on a day; a list of them follows.
DELETE FROM "fairmill_usage_day" WHERE "cluster" = ? AND "day" = ? AND "id_assoc"
