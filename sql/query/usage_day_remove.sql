-- SPDX-License-Identifier: MIT
-- Associations without usage on a day; a list of them follows.
DELETE /*! "fairmill_usage_day" */ FROM "fairmill_usage_day" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ? AND "id_assoc"
