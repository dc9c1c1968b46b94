-- SPDX-License-Identifier: MIT
-- What no unsealed job adds to any more; a list of associations follows.
DELETE /*! "fairmill_usage_open" */ FROM "fairmill_usage_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "day" = ? AND "id_assoc"
