-- SPDX-License-Identifier: MIT
-- Settings that no run had.
DELETE FROM "fairmill_settings"
WHERE "digest" NOT IN (SELECT "settings_digest" FROM "fairmill_run")
