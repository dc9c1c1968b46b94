-- SPDX-License-Identifier: MIT
-- The result tables are of this version now.
INSERT INTO "fairmill_schema" ("version", "made_at") VALUES (?, ?)
