-- SPDX-License-Identifier: MIT
-- Where a cluster's rows came from; '' where it has none any more.
SELECT "source" FROM "fairmill_lock" WHERE "cluster" = ?
