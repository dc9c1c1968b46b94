-- SPDX-License-Identifier: MIT

-- The tree in the columns of sshare.
CREATE OR REPLACE VIEW "fairmill_sshare" AS
SELECT
    f."cluster" AS "cluster",
    f."id_assoc" AS "id_assoc",
    f."account" AS "account",
    f."user_name" AS "username",
    f."partition_name" AS "partition",
    CASE
        WHEN f."parent_id" IS NULL THEN NULL
        WHEN f."shares" IS NULL THEN 'parent'
        ELSE CAST(f."shares" AS TEXT)
    END AS "rawshares",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN f."level_shares_norm"
        WHEN 'pbs' THEN f."pbs_target"
        ELSE f."shares_norm"
    END AS "normshares",
    f."usage_raw" AS "rawusage",
    f."usage_norm" AS "normusage",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN f."level_usage"
        WHEN 'classic' THEN f."classic_usage"
        WHEN 'linear' THEN f."linear_usage"
        WHEN 'pbs' THEN f."pbs_tree_usage"
        ELSE f."depth_oblivious_ratio" * f."shares_norm"
    END AS "effectvusage",
    f."fairshare" AS "fairshare",
    CASE r."algorithm" WHEN 'fair_tree' THEN f."level_fs" END AS "levelfs"
FROM "fairmill_fairshare" f
JOIN "fairmill_run" r ON r."cluster" = f."cluster" AND r."run_id" = f."run_id";

-- Jobs that wait in the columns of sprio.
CREATE OR REPLACE VIEW "fairmill_sprio" AS
SELECT
    j."cluster" AS "cluster",
    j."id_job" AS "jobid",
    j."partition_name" AS "partition",
    j."user_name" AS "username",
    j."account" AS "account",
    j."qos" AS "qos_name",
    j."priority" AS "priority",
    j."site" AS "site",
    j."age_weighted" AS "age",
    j."assoc_weighted" AS "assoc",
    j."fairshare_weighted" AS "fairshare",
    j."job_size_weighted" AS "jobsize",
    j."partition_weighted" AS "partition_priority",
    j."qos_weighted" AS "qos",
    j."nice" AS "nice",
    j."tres_weighted" AS "tres",
    j."best" AS "best"
FROM "fairmill_job_priority" j;
