-- SPDX-License-Identifier: MIT
-- Nothing is known of the rows of a day.
DELETE /*! "fairmill_usage_hash" */ FROM "fairmill_usage_hash" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ?
