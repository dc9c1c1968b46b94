-- SPDX-License-Identifier: MIT
-- What runs last knew of associations.
SELECT "last_as_of", "hash" FROM "fairmill_share_state" WHERE "cluster" = ?
