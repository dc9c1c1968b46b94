-- SPDX-License-Identifier: MIT
-- The settings that runs of a cluster had.
SELECT DISTINCT "settings_digest" FROM "fairmill_run" WHERE "cluster" = ?
