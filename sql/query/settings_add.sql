-- SPDX-License-Identifier: MIT
-- Settings that no run had until now.
INSERT INTO "fairmill_settings" ("digest", "text") VALUES (?, ?)
