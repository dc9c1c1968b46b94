-- SPDX-License-Identifier: MIT
-- A run, of any cluster, with these settings.
SELECT "run_id" FROM "fairmill_run" WHERE "settings_digest" = ? LIMIT 1
