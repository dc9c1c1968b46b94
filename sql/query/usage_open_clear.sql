-- SPDX-License-Identifier: MIT
-- Forget what unsealed jobs added to a day.
DELETE /*! "fairmill_usage_open" */ FROM "fairmill_usage_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ?
