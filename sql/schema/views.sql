-- SPDX-License-Identifier: MIT
--
-- The views, in the same syntax as tables.sql.

-- All values of the current associations.  Usage is in TRES-seconds.
sqlite: DROP VIEW IF EXISTS "fairmill_fairshare";
{create_definer_view} "fairmill_fairshare" AS
SELECT
    t."cluster" AS "cluster",
    t."id_assoc" AS "id_assoc",
    t."parent_id" AS "parent_id",
    t."depth" AS "depth",
    t."account" AS "account",
    t."user_name" AS "user_name",
    t."partition_name" AS "partition_name",
    t."shares" AS "shares",
    t."shares_norm" AS "shares_norm",
    t."level_shares_norm" AS "level_shares_norm",
    v."usage_raw" AS "usage_raw",
    v."usage_norm" AS "usage_norm",
    v."capacity_usage" AS "capacity_usage",
    v."level_usage" AS "level_usage",
    v."classic_usage" AS "classic_usage",
    v."classic_factor" AS "classic_factor",
    v."linear_usage" AS "linear_usage",
    v."linear_factor" AS "linear_factor",
    v."depth_oblivious_ratio" AS "depth_oblivious_ratio",
    v."depth_oblivious_factor" AS "depth_oblivious_factor",
    v."level_fs" AS "level_fs",
    CAST(CASE
        WHEN t."parent_id" IS NULL THEN NULL
        WHEN v."level_fs" = 1e100 THEN 1
        ELSE 0
    END AS {signed}) AS "level_fs_infinite",
    v."fair_tree_rank" AS "fair_tree_rank",
    CAST(v."fair_tree_rank" AS {real}) / NULLIF(r."users", 0) AS "fair_tree_factor",
    t."shares_norm" AS "pbs_target",
    CASE t."pbs_own" WHEN 1 THEN v."pbs_tree_usage" ELSE v."classic_usage" END AS "pbs_tree_usage",
    CASE t."pbs_own" WHEN 1 THEN v."pbs_factor" ELSE v."classic_factor" END AS "pbs_factor",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN CAST(v."fair_tree_rank" AS {real}) / NULLIF(r."users", 0)
        WHEN 'classic' THEN v."classic_factor"
        WHEN 'linear' THEN v."linear_factor"
        WHEN 'depth_oblivious' THEN v."depth_oblivious_factor"
        WHEN 'pbs' THEN CASE t."pbs_own" WHEN 1 THEN v."pbs_factor" ELSE v."classic_factor" END
    END AS "fairshare",
    r."run_id" AS "run_id",
    r."as_of" AS "computed_at",
    CASE r."algorithm"
        WHEN 'fair_tree' THEN COALESCE(v."fairshare_order", r."users" - v."fair_tree_rank" + 1)
        ELSE v."fairshare_order"
    END AS "fairshare_order",
    COALESCE(v."depth_oblivious_usage", v."depth_oblivious_ratio" * t."shares_norm") AS "depth_oblivious_usage",
    t."tie_order" AS "tie_order",
    v."pbs_order" AS "pbs_order",
    t."grp_tres_mins" AS "grp_tres_mins",
    v."tres_run_mins" AS "tres_run_mins",
    t."usage_is_set" AS "usage_is_set",
    -- As GrpTRESRaw of sshare, without TRES of which there is no usage: aggregates omit NULL.
    (SELECT {list_of}(n."tres" || '=' || CAST({floor}(CASE n."number"
            WHEN 1 THEN v."tres_1"
            WHEN 2 THEN v."tres_2"
            WHEN 3 THEN v."tres_3"
            WHEN 4 THEN v."tres_4"
            WHEN 5 THEN v."tres_5"
            WHEN 6 THEN v."tres_6"
            WHEN 7 THEN v."tres_7"
            WHEN 8 THEN v."tres_8"
            WHEN 9 THEN v."tres_9"
            WHEN 10 THEN v."tres_10"
            WHEN 11 THEN v."tres_11"
            WHEN 12 THEN v."tres_12"
            WHEN 13 THEN v."tres_13"
            WHEN 14 THEN v."tres_14"
            WHEN 15 THEN v."tres_15"
            WHEN 16 THEN v."tres_16"
        END / 60) AS {signed}){list_order})
    FROM "fairmill_tres_name" n WHERE n."cluster" = t."cluster") AS "grp_tres_raw",
    v."users_below" AS "users_below",
    COALESCE(v."first_place",
        CASE r."algorithm" WHEN 'fair_tree' THEN r."users" - v."fair_tree_rank" + 1 END) AS "first_place",
    COALESCE(v."last_place", v."first_place",
        CASE r."algorithm" WHEN 'fair_tree' THEN r."users" - v."fair_tree_rank" + 1 END) AS "last_place",
    v."places_interleaved" AS "places_interleaved"
FROM "fairmill_lock" l
JOIN "fairmill_run" r ON r."cluster" = l."cluster" AND r."run_id" = l."run_id"
JOIN "fairmill_tree" t ON t."cluster" = l."cluster"
JOIN "fairmill_value" v ON v."cluster" = t."cluster" AND v."id_assoc" = t."id_assoc";
pgsql: ALTER VIEW "fairmill_fairshare" OWNER TO CURRENT_USER;

-- Undecayed daily usage of each association by TRES, in TRES-seconds.  The usage of the associations
-- below an account is not included.
sqlite: DROP VIEW IF EXISTS "fairmill_tres_day";
{create_definer_view} "fairmill_tres_day" AS
SELECT
    d."cluster" AS "cluster",
    d."day" AS "day",
    d."id_assoc" AS "id_assoc",
    n."tres" AS "tres",
    CASE n."number"
        WHEN 1 THEN d."tres_1"
        WHEN 2 THEN d."tres_2"
        WHEN 3 THEN d."tres_3"
        WHEN 4 THEN d."tres_4"
        WHEN 5 THEN d."tres_5"
        WHEN 6 THEN d."tres_6"
        WHEN 7 THEN d."tres_7"
        WHEN 8 THEN d."tres_8"
        WHEN 9 THEN d."tres_9"
        WHEN 10 THEN d."tres_10"
        WHEN 11 THEN d."tres_11"
        WHEN 12 THEN d."tres_12"
        WHEN 13 THEN d."tres_13"
        WHEN 14 THEN d."tres_14"
        WHEN 15 THEN d."tres_15"
        WHEN 16 THEN d."tres_16"
    END AS "seconds"
FROM "fairmill_usage_day" d
JOIN "fairmill_tres_name" n ON n."cluster" = d."cluster"
WHERE CASE n."number"
        WHEN 1 THEN d."tres_1"
        WHEN 2 THEN d."tres_2"
        WHEN 3 THEN d."tres_3"
        WHEN 4 THEN d."tres_4"
        WHEN 5 THEN d."tres_5"
        WHEN 6 THEN d."tres_6"
        WHEN 7 THEN d."tres_7"
        WHEN 8 THEN d."tres_8"
        WHEN 9 THEN d."tres_9"
        WHEN 10 THEN d."tres_10"
        WHEN 11 THEN d."tres_11"
        WHEN 12 THEN d."tres_12"
        WHEN 13 THEN d."tres_13"
        WHEN 14 THEN d."tres_14"
        WHEN 15 THEN d."tres_15"
        WHEN 16 THEN d."tres_16"
    END IS NOT NULL;
pgsql: ALTER VIEW "fairmill_tres_day" OWNER TO CURRENT_USER;

-- Decayed usage of each association by TRES, with everything below it, and the TRES-seconds that
-- running jobs may still use.
sqlite: DROP VIEW IF EXISTS "fairmill_tres";
{create_definer_view} "fairmill_tres" AS
SELECT
    v."cluster" AS "cluster",
    v."id_assoc" AS "id_assoc",
    n."tres" AS "tres",
    COALESCE(CASE n."number"
        WHEN 1 THEN v."tres_1"
        WHEN 2 THEN v."tres_2"
        WHEN 3 THEN v."tres_3"
        WHEN 4 THEN v."tres_4"
        WHEN 5 THEN v."tres_5"
        WHEN 6 THEN v."tres_6"
        WHEN 7 THEN v."tres_7"
        WHEN 8 THEN v."tres_8"
        WHEN 9 THEN v."tres_9"
        WHEN 10 THEN v."tres_10"
        WHEN 11 THEN v."tres_11"
        WHEN 12 THEN v."tres_12"
        WHEN 13 THEN v."tres_13"
        WHEN 14 THEN v."tres_14"
        WHEN 15 THEN v."tres_15"
        WHEN 16 THEN v."tres_16"
    END, 0) AS "usage_raw",
    COALESCE(CASE n."number"
        WHEN 1 THEN v."running_1"
        WHEN 2 THEN v."running_2"
        WHEN 3 THEN v."running_3"
        WHEN 4 THEN v."running_4"
        WHEN 5 THEN v."running_5"
        WHEN 6 THEN v."running_6"
        WHEN 7 THEN v."running_7"
        WHEN 8 THEN v."running_8"
        WHEN 9 THEN v."running_9"
        WHEN 10 THEN v."running_10"
        WHEN 11 THEN v."running_11"
        WHEN 12 THEN v."running_12"
        WHEN 13 THEN v."running_13"
        WHEN 14 THEN v."running_14"
        WHEN 15 THEN v."running_15"
        WHEN 16 THEN v."running_16"
    END, 0) AS "running_seconds"
FROM "fairmill_lock" l
JOIN "fairmill_tres_name" n ON n."cluster" = l."cluster"
JOIN "fairmill_tree" t ON t."cluster" = l."cluster"
JOIN "fairmill_value" v ON v."cluster" = t."cluster" AND v."id_assoc" = t."id_assoc"
WHERE l."run_id" > 0
    AND (CASE n."number"
        WHEN 1 THEN v."tres_1"
        WHEN 2 THEN v."tres_2"
        WHEN 3 THEN v."tres_3"
        WHEN 4 THEN v."tres_4"
        WHEN 5 THEN v."tres_5"
        WHEN 6 THEN v."tres_6"
        WHEN 7 THEN v."tres_7"
        WHEN 8 THEN v."tres_8"
        WHEN 9 THEN v."tres_9"
        WHEN 10 THEN v."tres_10"
        WHEN 11 THEN v."tres_11"
        WHEN 12 THEN v."tres_12"
        WHEN 13 THEN v."tres_13"
        WHEN 14 THEN v."tres_14"
        WHEN 15 THEN v."tres_15"
        WHEN 16 THEN v."tres_16"
    END IS NOT NULL
        OR CASE n."number"
        WHEN 1 THEN v."running_1"
        WHEN 2 THEN v."running_2"
        WHEN 3 THEN v."running_3"
        WHEN 4 THEN v."running_4"
        WHEN 5 THEN v."running_5"
        WHEN 6 THEN v."running_6"
        WHEN 7 THEN v."running_7"
        WHEN 8 THEN v."running_8"
        WHEN 9 THEN v."running_9"
        WHEN 10 THEN v."running_10"
        WHEN 11 THEN v."running_11"
        WHEN 12 THEN v."running_12"
        WHEN 13 THEN v."running_13"
        WHEN 14 THEN v."running_14"
        WHEN 15 THEN v."running_15"
        WHEN 16 THEN v."running_16"
    END IS NOT NULL);
pgsql: ALTER VIEW "fairmill_tres" OWNER TO CURRENT_USER;

-- The association tree with the columns of sshare.
sqlite: DROP VIEW IF EXISTS "fairmill_sshare";
{create_view} "fairmill_sshare" AS
SELECT
    f."cluster" AS "cluster",
    f."id_assoc" AS "id_assoc",
    f."account" AS "account",
    f."user_name" AS "username",
    f."partition_name" AS "partition",
    CASE
        WHEN f."parent_id" IS NULL THEN NULL
        WHEN f."shares" IS NULL THEN 'parent'
        ELSE CAST(f."shares" AS {characters})
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
        ELSE COALESCE(f."depth_oblivious_usage", f."depth_oblivious_ratio" * f."shares_norm")
    END AS "effectvusage",
    f."fairshare" AS "fairshare",
    CASE r."algorithm" WHEN 'fair_tree' THEN f."level_fs" END AS "levelfs",
    f."grp_tres_mins" AS "grptresmins",
    f."tres_run_mins" AS "tresrunmins",
    f."grp_tres_raw" AS "grptresraw"
FROM "fairmill_fairshare" f
JOIN "fairmill_run" r ON r."cluster" = f."cluster" AND r."run_id" = f."run_id";
pgsql: ALTER VIEW "fairmill_sshare" OWNER TO CURRENT_USER;

-- Pending jobs with the columns of sprio.
sqlite: DROP VIEW IF EXISTS "fairmill_sprio";
{create_view} "fairmill_sprio" AS
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
    j."best" AS "best",
    j."priority_tier" AS "priority_tier",
    j."pool" AS "pool",
    j."place" AS "place",
    j."reason" AS "reason"
FROM "fairmill_job_priority" j;
pgsql: ALTER VIEW "fairmill_sprio" OWNER TO CURRENT_USER;

-- The values of each account, and the best, mean and worst fairshare of its direct users.
sqlite: DROP VIEW IF EXISTS "fairmill_account";
{create_definer_view} "fairmill_account" AS
SELECT
    a."cluster" AS "cluster",
    a."id_assoc" AS "id_assoc",
    a."parent_id" AS "parent_id",
    a."account" AS "account",
    a."fairshare" AS "fairshare",
    COALESCE(u."users", 0) AS "users",
    u."best" AS "best",
    u."mean" AS "mean",
    u."worst" AS "worst",
    a."run_id" AS "run_id",
    a."computed_at" AS "computed_at",
    a."depth" AS "depth",
    a."shares" AS "shares",
    a."shares_norm" AS "shares_norm",
    a."level_shares_norm" AS "level_shares_norm",
    a."usage_raw" AS "usage_raw",
    a."usage_norm" AS "usage_norm",
    a."level_usage" AS "level_usage",
    a."level_fs" AS "level_fs",
    a."capacity_usage" AS "capacity_usage"
FROM "fairmill_fairshare" a
LEFT JOIN (
    SELECT "cluster", "parent_id", COUNT(*) AS "users", MAX("fairshare") AS "best",
        AVG("fairshare" {in_order}) AS "mean", MIN("fairshare") AS "worst"
    FROM "fairmill_fairshare"
    WHERE "user_name" <> ''
    GROUP BY "cluster", "parent_id"
) u ON u."cluster" = a."cluster" AND u."parent_id" = a."id_assoc"
WHERE a."user_name" = '';
pgsql: ALTER VIEW "fairmill_account" OWNER TO CURRENT_USER;

-- Accounts at the history points, with their names and parents at that time.  The joins follow the
-- primary key from points and accounts to their values, so the values of users are not read.
sqlite: DROP VIEW IF EXISTS "fairmill_account_history";
{create_definer_view} "fairmill_account_history" AS
SELECT
    h."cluster" AS "cluster",
    h."as_of" AS "as_of",
    h."id_assoc" AS "id_assoc",
    n."account" AS "account",
    h."fairshare" AS "fairshare",
    h."usage_raw" AS "usage_raw",
    h."level_fs" AS "level_fs",
    n."parent_id" AS "parent_id"
FROM "fairmill_history_point" p
JOIN "fairmill_association" n ON n."cluster" = p."cluster" AND n."user_name" = '' AND n."since" = (
        SELECT MAX(m."since")
        FROM "fairmill_association" m
        WHERE m."cluster" = n."cluster" AND m."id_assoc" = n."id_assoc" AND m."since" <= p."as_of")
JOIN "fairmill_history" h ON h."cluster" = p."cluster" AND h."as_of" = p."as_of"
    AND h."id_assoc" = n."id_assoc";
pgsql: ALTER VIEW "fairmill_account_history" OWNER TO CURRENT_USER;

-- Undecayed daily usage of the direct users of each account, in TRES-seconds.
sqlite: DROP VIEW IF EXISTS "fairmill_account_day";
{create_definer_view} "fairmill_account_day" AS
SELECT
    d."cluster" AS "cluster",
    d."day" AS "day",
    n."account" AS "account",
    SUM(d."tres_seconds") AS "tres_seconds"
FROM "fairmill_usage_day" d
JOIN "fairmill_association" n ON n."cluster" = d."cluster" AND n."id_assoc" = d."id_assoc"
    AND n."since" = (
        SELECT MAX(m."since")
        FROM "fairmill_association" m
        WHERE m."cluster" = d."cluster" AND m."id_assoc" = d."id_assoc")
GROUP BY d."cluster", d."day", n."account";
pgsql: ALTER VIEW "fairmill_account_day" OWNER TO CURRENT_USER;

-- Undecayed daily usage of the direct users of each account by TRES, in TRES-seconds.
sqlite: DROP VIEW IF EXISTS "fairmill_account_tres_day";
{create_definer_view} "fairmill_account_tres_day" AS
SELECT
    d."cluster" AS "cluster",
    d."day" AS "day",
    n."account" AS "account",
    d."tres" AS "tres",
    SUM(d."seconds") AS "seconds"
FROM "fairmill_tres_day" d
JOIN "fairmill_association" n ON n."cluster" = d."cluster" AND n."id_assoc" = d."id_assoc"
    AND n."since" = (
        SELECT MAX(m."since")
        FROM "fairmill_association" m
        WHERE m."cluster" = d."cluster" AND m."id_assoc" = d."id_assoc")
GROUP BY d."cluster", d."day", n."account", d."tres";
pgsql: ALTER VIEW "fairmill_account_tres_day" OWNER TO CURRENT_USER;

-- The number and the priorities of pending jobs in each partition.  A job is counted only in the
-- partition in which its priority is highest.
sqlite: DROP VIEW IF EXISTS "fairmill_waiting";
{create_definer_view} "fairmill_waiting" AS
SELECT
    j."cluster" AS "cluster",
    j."partition_name" AS "partition",
    COUNT(*) AS "jobs",
    MAX(j."priority") AS "highest",
    MIN(j."priority") AS "lowest",
    COUNT(j."place") AS "startable"
FROM "fairmill_job_priority" j
WHERE j."best" = 1
GROUP BY j."cluster", j."partition_name";
pgsql: ALTER VIEW "fairmill_waiting" OWNER TO CURRENT_USER;

-- The number and the priorities of pending jobs of each account.
sqlite: DROP VIEW IF EXISTS "fairmill_account_waiting";
{create_definer_view} "fairmill_account_waiting" AS
SELECT
    j."cluster" AS "cluster",
    j."account" AS "account",
    COUNT(*) AS "jobs",
    MAX(j."priority") AS "highest",
    MIN(j."priority") AS "lowest",
    COUNT(j."place") AS "startable"
FROM "fairmill_job_priority" j
WHERE j."best" = 1
GROUP BY j."cluster", j."account";
pgsql: ALTER VIEW "fairmill_account_waiting" OWNER TO CURRENT_USER;

-- The number of jobs that started on each day, by the time for which they had waited.
sqlite: DROP VIEW IF EXISTS "fairmill_wait_day";
{create_view} "fairmill_wait_day" AS
SELECT
    w."cluster" AS "cluster",
    w."day" AS "day",
    w."id_assoc" AS "id_assoc",
    w."partition_name" AS "partition_name",
    w."qos" AS "qos",
    w."bucket_s" AS "bucket_s",
    CAST(SUM(w."jobs") AS {signed}) AS "jobs"
FROM (
    SELECT "cluster", "day", "id_assoc", "partition_name", "qos", "bucket_s", "jobs"
    FROM "fairmill_wait_final"
    UNION ALL
    SELECT "cluster", "day", "id_assoc", "partition_name", "qos", "bucket_s", "jobs"
    FROM "fairmill_wait_open"
) w
GROUP BY w."cluster", w."day", w."id_assoc", w."partition_name", w."qos", w."bucket_s";
pgsql: ALTER VIEW "fairmill_wait_day" OWNER TO CURRENT_USER;

-- The same by partition and QOS, without associations.
sqlite: DROP VIEW IF EXISTS "fairmill_partition_wait_day";
{create_definer_view} "fairmill_partition_wait_day" AS
SELECT
    w."cluster" AS "cluster",
    w."day" AS "day",
    w."partition_name" AS "partition_name",
    w."qos" AS "qos",
    w."bucket_s" AS "bucket_s",
    CAST(SUM(w."jobs") AS {signed}) AS "jobs"
FROM (
    SELECT "cluster", "day", "partition_name", "qos", "bucket_s", "jobs"
    FROM "fairmill_wait_final"
    UNION ALL
    SELECT "cluster", "day", "partition_name", "qos", "bucket_s", "jobs"
    FROM "fairmill_wait_open"
) w
GROUP BY w."cluster", w."day", w."partition_name", w."qos", w."bucket_s";
pgsql: ALTER VIEW "fairmill_partition_wait_day" OWNER TO CURRENT_USER;

-- The number of findings of each kind, without their subjects.
sqlite: DROP VIEW IF EXISTS "fairmill_findings";
{create_definer_view} "fairmill_findings" AS
SELECT
    f."cluster" AS "cluster",
    f."kind" AS "kind",
    COUNT(*) AS "findings",
    MIN(f."first_seen") AS "first_seen",
    MAX(f."last_seen") AS "last_seen"
FROM "fairmill_finding" f
GROUP BY f."cluster", f."kind";
pgsql: ALTER VIEW "fairmill_findings" OWNER TO CURRENT_USER;

-- Runs, without users, hosts and messages.
sqlite: DROP VIEW IF EXISTS "fairmill_runs";
{create_definer_view} "fairmill_runs" AS
SELECT
    r."cluster" AS "cluster",
    r."run_id" AS "run_id",
    r."as_of" AS "as_of",
    r."started_at" AS "started_at",
    r."duration_ms" AS "duration_ms",
    r."kind" AS "kind",
    r."status" AS "status",
    r."algorithm" AS "algorithm",
    r."conformance" AS "conformance",
    r."half_life" AS "half_life",
    r."associations" AS "associations",
    r."users" AS "users",
    r."jobs_read" AS "jobs_read",
    r."source_lag" AS "source_lag",
    r."drift_max" AS "drift_max"
FROM "fairmill_run" r;
pgsql: ALTER VIEW "fairmill_runs" OWNER TO CURRENT_USER;

-- The fairshare tree with the columns of pbsfs.
sqlite: DROP VIEW IF EXISTS "fairmill_pbsfs";
{create_view} "fairmill_pbsfs" AS
SELECT
    f."cluster" AS "cluster",
    f."id_assoc" AS "id_assoc",
    CASE WHEN f."user_name" = '' THEN f."account" ELSE f."user_name" END AS "name",
    CASE WHEN f."parent_id" = 2147483647 THEN 0 ELSE COALESCE(f."parent_id", -1) END AS "resgroup",
    CASE WHEN f."id_assoc" = 2147483647 THEN 0 ELSE f."id_assoc" END AS "cresgroup",
    CASE WHEN f."parent_id" IS NULL THEN NULL ELSE f."shares" END AS "shares",
    100 * f."pbs_target" AS "percentage",
    f."pbs_target" AS "fairshare_perc",
    f."pbs_target" AS "fair_share_perc",
    f."pbs_tree_usage" AS "fairshare_tree_usage",
    f."pbs_factor" AS "fairshare_factor",
    f."usage_raw" AS "usage",
    CASE WHEN f."pbs_target" > 0 THEN f."usage_raw" / f."pbs_target" ELSE -1 END AS "usage_perc",
    f."pbs_order" AS "pbs_order"
FROM "fairmill_fairshare" f;
pgsql: ALTER VIEW "fairmill_pbsfs" OWNER TO CURRENT_USER;
