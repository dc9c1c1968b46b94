-- SPDX-License-Identifier: MIT
-- What is known of a cluster's usage by day.
SELECT "as_of", "oldest_end", "final_to" FROM "fairmill_usage_span" WHERE "cluster" = ?
