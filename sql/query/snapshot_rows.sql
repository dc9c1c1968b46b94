-- SPDX-License-Identifier: MIT
-- A cluster's values, with what the tree is made of.
SELECT "id_assoc", "parent_id", "account", "user_name", "partition_name", "shares",
    "fair_tree_rank", "level_fs_infinite",
    "shares_norm", "usage_raw", "usage_norm", "capacity_usage", "level_shares_norm",
    "level_usage", "classic_usage", "classic_factor", "linear_usage", "linear_factor",
    "depth_oblivious_ratio", "depth_oblivious_factor", "level_fs", "fair_tree_factor",
    "pbs_tree_usage", "pbs_factor"
FROM "fairmill_fairshare"
WHERE "cluster" = ?
ORDER BY "id_assoc"
