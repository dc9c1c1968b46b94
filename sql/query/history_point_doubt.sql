-- SPDX-License-Identifier: MIT
-- Points behind one at which associations changed: theirs may have changed again.
UPDATE "fairmill_history_point" SET "associations" = 0 WHERE "cluster" = ? AND "as_of" > ?
