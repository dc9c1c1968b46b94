-- SPDX-License-Identifier: MIT
-- The version of the result tables.
SELECT MAX("version") FROM "fairmill_schema"
