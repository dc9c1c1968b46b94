-- SPDX-License-Identifier: MIT
--
-- The table fairmill_fairshare, which existed up to version 7.  It is used to add columns that
-- older versions lack.

-- The table exists.  This statement only lists its columns.
CREATE TABLE IF NOT EXISTS "fairmill_fairshare" (
    "cluster"                 {name} NOT NULL,
    "id_assoc"                {integer} NOT NULL,
    "parent_id"               {integer},
    "depth"                   {integer} NOT NULL,
    "account"                 {name} NOT NULL,
    "user_name"               {name} NOT NULL,
    "partition_name"          {name} NOT NULL,
    "shares"                  {integer},
    "shares_norm"             {real},
    "level_shares_norm"       {real},
    "usage_raw"               {real},
    "usage_norm"              {real},
    "capacity_usage"          {real},
    "level_usage"             {real},
    "classic_usage"           {real},
    "classic_factor"          {real},
    "linear_usage"            {real},
    "linear_factor"           {real},
    "depth_oblivious_ratio"   {real},
    "depth_oblivious_factor"  {real},
    "level_fs"                {real},
    "level_fs_infinite"       {integer},
    "fair_tree_rank"          {integer},
    "fair_tree_factor"        {real},
    "pbs_target"              {real},
    "pbs_tree_usage"          {real},
    "pbs_factor"              {real},
    "fairshare"               {real},
    "run_id"                  {integer} NOT NULL,
    "computed_at"             {integer} NOT NULL,
    "fairshare_order"         {integer},
    "depth_oblivious_usage"   {real},
    "tie_order"               {integer},
    "pbs_order"               {integer},
    "grp_tres_mins"           {text},
    "tres_run_mins"           {text},
    PRIMARY KEY ("cluster", "id_assoc")
) {replaced};
