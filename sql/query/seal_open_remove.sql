-- SPDX-License-Identifier: MIT
-- Take away keys, a list of which follows.
DELETE /*! "fairmill_seal_open" */ FROM "fairmill_seal_open" /*! FORCE INDEX (PRIMARY) */
WHERE "cluster" = ? AND "job_key"
