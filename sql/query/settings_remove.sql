-- SPDX-License-Identifier: MIT
-- Settings that no run has any more.
DELETE FROM "fairmill_settings" WHERE "digest" = ?
