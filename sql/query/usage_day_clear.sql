-- SPDX-License-Identifier: MIT
-- All of a day.
DELETE /*! "fairmill_usage_day" */ FROM "fairmill_usage_day" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ?
