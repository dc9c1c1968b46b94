-- SPDX-License-Identifier: MIT
-- The sums that are kept for a cluster.
SELECT "id_assoc", "sum_3", "sum_2", "sum_1", "sum_0" FROM "fairmill_seal_usage" WHERE "cluster" = ?
