-- SPDX-License-Identifier: MIT
-- Whether these settings are there.
SELECT 1 FROM "fairmill_settings" WHERE "digest" = ?
