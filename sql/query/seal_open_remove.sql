-- SPDX-License-Identifier: MIT
-- Take away keys, a list of which follows.
DELETE FROM "fairmill_seal_open" WHERE "cluster" = ? AND "job_key"
