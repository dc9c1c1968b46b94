-- SPDX-License-Identifier: MIT
-- The first point of a span.
SELECT MIN("as_of") FROM "fairmill_history_point" WHERE "cluster" = ? AND "as_of" >= ? AND "as_of" < ?
