-- SPDX-License-Identifier: MIT
-- The clusters that have rows, and where these came from.
SELECT "cluster", "source" FROM "fairmill_lock" WHERE "cluster" <> '' AND "run_id" > 0 AND "source" <> ''
