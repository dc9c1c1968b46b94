-- SPDX-License-Identifier: MIT
-- A point.
INSERT INTO "fairmill_history_point" ("cluster", "as_of", "algorithm", "associations") VALUES (?, ?, ?, ?)
