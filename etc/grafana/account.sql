-- SPDX-License-Identifier: MIT
--
-- The dashboard of an account.  build-aux/dashboards.pl describes the lines before a query.

-- dashboard: account Fairshare: an account
-- about: The shares and usage of one account and of the accounts below it.

-- variable: cluster
SELECT DISTINCT cluster FROM fairmill_account ORDER BY cluster

-- variable: account
SELECT account FROM fairmill_account WHERE cluster = ${cluster:sqlstring} AND parent_id IS NOT NULL ORDER BY account

-- panel: Share and usage among its siblings
-- kind: number
-- size: 8 4
-- unit: percentunit
SELECT level_shares_norm AS share, level_usage AS used
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}

-- panel: Usage divided by share
-- about: 1 means that usage equals the share, and 2 that it is twice the share.
-- kind: number
-- size: 4 4
-- steps: blue 0.8=green 1.25=orange 2=red
SELECT CASE WHEN level_shares_norm > 0 THEN level_usage / level_shares_norm END AS usage_over_share
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}

-- panel: Fairshare of its users
-- about: The best, the mean and the worst value of the users directly in the account.
-- kind: number
-- size: 8 4
SELECT best, mean, worst
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}

-- panel: Pending jobs
-- kind: number
-- size: 4 4
SELECT COALESCE(SUM(jobs), 0) AS jobs
FROM fairmill_account_waiting
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}

-- panel: Usage divided by share, over time
-- about: 1 means that usage equals the share.  The scale is logarithmic, so 2 and 0.5 are equally far from 1.
-- kind: ratios
-- size: 12 9
SELECT $__unixEpochGroup(as_of, $__interval) AS time, AVG(1 / level_fs) AS usage_over_share
FROM fairmill_account_history
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring} AND $__unixEpochFilter(as_of)
    AND level_fs > 0 AND level_fs < 1e99
GROUP BY $__unixEpochGroup(as_of, $__interval)
ORDER BY 1

-- panel: Decayed usage over time
-- about: Usage after decay, in hours of the charged TRES.
-- kind: curves
-- size: 12 9
-- unit: h
SELECT $__unixEpochGroup(as_of, $__interval) AS time, AVG(usage_raw) / 3600 AS used
FROM fairmill_account_history
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring} AND $__unixEpochFilter(as_of)
GROUP BY $__unixEpochGroup(as_of, $__interval)
ORDER BY 1

-- panel: Usage by day
-- about: Undecayed usage of the account and all accounts below it, in hours of the charged TRES.
-- about: Each color is an account of the users.
-- kind: days
-- size: 24 9
-- unit: h
WITH RECURSIVE below (id_assoc, account) AS (
    SELECT id_assoc, account
    FROM fairmill_account
    WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}
    UNION ALL
    SELECT a.id_assoc, a.account
    FROM below b
    JOIN fairmill_account a ON a.parent_id = b.id_assoc AND a.cluster = ${cluster:sqlstring}
)
SELECT d.day AS time, d.account AS metric, d.tres_seconds / 3600 AS used
FROM below b
JOIN fairmill_account_day d ON d.account = b.account
WHERE d.cluster = ${cluster:sqlstring} AND $__unixEpochFilter(d.day)
ORDER BY 1, 2

-- panel: GPU-hours by day
-- about: Undecayed usage of gres/gpu by the account and all accounts below it.  Each color is an account of the users.
-- about: Empty if they used no GPUs.
-- kind: days
-- size: 24 9
-- unit: h
WITH RECURSIVE below (id_assoc, account) AS (
    SELECT id_assoc, account
    FROM fairmill_account
    WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}
    UNION ALL
    SELECT a.id_assoc, a.account
    FROM below b
    JOIN fairmill_account a ON a.parent_id = b.id_assoc AND a.cluster = ${cluster:sqlstring}
)
SELECT d.day AS time, d.account AS metric, d.seconds / 3.6e3 AS used
FROM below b
JOIN fairmill_account_tres_day d ON d.account = b.account
WHERE d.cluster = ${cluster:sqlstring} AND d.tres = 'gres/gpu' AND $__unixEpochFilter(d.day)
ORDER BY 1, 2

-- panel: The account and the accounts directly below it
-- about: Share and usage are fractions of the cluster.
-- kind: table
-- size: 24 8
-- units: share=percentunit used=percentunit
SELECT c.account, c.shares, c.shares_norm AS share, c.usage_norm AS used, c.fairshare, c.users, c.best, c.mean, c.worst
FROM fairmill_account a
JOIN fairmill_account c ON c.cluster = a.cluster AND (c.parent_id = a.id_assoc OR c.id_assoc = a.id_assoc)
WHERE a.cluster = ${cluster:sqlstring} AND a.account = ${account:sqlstring}
ORDER BY c.depth, c.account

-- panel: Limits of TRES minutes
-- about: The GrpTRESMins limits of the account and its users.
-- kind: table
-- size: 24 6
-- units: exhausted_at=dateTimeAsIso
-- for: operators
SELECT user_name, partition_name, tres, limit_minutes, used_minutes, running_minutes, left_minutes,
    exhausted_at * 1000 AS exhausted_at
FROM fairmill_budget
WHERE cluster = ${cluster:sqlstring} AND kind = 'association' AND account = ${account:sqlstring}
ORDER BY CASE WHEN exhausted_at IS NULL THEN 1 ELSE 0 END, exhausted_at, user_name, id, tres

-- panel: Users
-- kind: table
-- size: 12 9
-- units: share=percentunit used=percentunit
-- for: operators
SELECT user_name, partition_name, shares, level_shares_norm AS share, level_usage AS used, fairshare
FROM fairmill_fairshare
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring} AND user_name <> ''
ORDER BY fairshare DESC, user_name, partition_name

-- panel: Fairshare of its users over time
-- about: The users who are in the account now.
-- kind: curves
-- size: 12 9
-- for: operators
SELECT $__unixEpochGroup(p.as_of, $__interval) AS time, f.user_name AS metric, AVG(h.fairshare) AS fairshare
FROM fairmill_history_point p
JOIN fairmill_fairshare f ON f.cluster = p.cluster AND f.account = ${account:sqlstring} AND f.user_name <> ''
JOIN fairmill_history h ON h.cluster = p.cluster AND h.as_of = p.as_of AND h.id_assoc = f.id_assoc
WHERE p.cluster = ${cluster:sqlstring} AND $__unixEpochFilter(p.as_of)
GROUP BY $__unixEpochGroup(p.as_of, $__interval), f.user_name
ORDER BY 1, 2

-- panel: Usage of its users by day
-- kind: days
-- size: 24 9
-- unit: h
-- for: operators
SELECT d.day AS time, f.user_name AS metric, SUM(d.tres_seconds) / 3600 AS used
FROM fairmill_fairshare f
JOIN fairmill_usage_day d ON d.cluster = f.cluster AND d.id_assoc = f.id_assoc
WHERE f.cluster = ${cluster:sqlstring} AND f.account = ${account:sqlstring} AND f.user_name <> ''
    AND $__unixEpochFilter(d.day)
GROUP BY d.day, f.user_name
ORDER BY 1, 2
