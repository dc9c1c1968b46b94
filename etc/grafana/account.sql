-- SPDX-License-Identifier: MIT
--
-- The dashboard of an account; build-aux/dashboards.pl says what the lines before a query are.

-- dashboard: account Fairshare: an account
-- about: What one account is due and used, and the accounts below it.

-- variable: cluster
SELECT DISTINCT cluster FROM fairmill_account ORDER BY cluster

-- variable: account
SELECT account FROM fairmill_account WHERE cluster = ${cluster:sqlstring} AND parent_id IS NOT NULL ORDER BY account

-- panel: Share and use among its siblings
-- kind: number
-- size: 8 4
-- unit: percentunit
SELECT level_shares_norm AS share, level_usage AS used
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}

-- panel: Use over share
-- about: 1 is what is due, 2 is twice that.
-- kind: number
-- size: 4 4
-- steps: blue 0.8=green 1.25=orange 2=red
SELECT CASE WHEN level_shares_norm > 0 THEN level_usage / level_shares_norm END AS use_over_share
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}

-- panel: Fairshare of its users
-- about: The best, the mean and the worst of the users right in the account, who need not be named for that.
-- kind: number
-- size: 8 4
SELECT best, mean, worst
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}

-- panel: Jobs that wait
-- kind: number
-- size: 4 4
SELECT COALESCE(SUM(jobs), 0) AS jobs
FROM fairmill_account_waiting
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring}

-- panel: Use over share, over time
-- about: 1 is what is due; twice and half that are equally far from it.
-- kind: ratios
-- size: 12 9
SELECT $__unixEpochGroup(as_of, $__interval) AS time, AVG(1 / level_fs) AS use_over_share
FROM fairmill_account_history
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring} AND $__unixEpochFilter(as_of)
    AND level_fs > 0 AND level_fs < 1e99
GROUP BY $__unixEpochGroup(as_of, $__interval)
ORDER BY 1

-- panel: Decayed use over time
-- about: Hours of the charged TRES that fairshare still counts.
-- kind: curves
-- size: 12 9
-- unit: h
SELECT $__unixEpochGroup(as_of, $__interval) AS time, AVG(usage_raw) / 3600 AS used
FROM fairmill_account_history
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring} AND $__unixEpochFilter(as_of)
GROUP BY $__unixEpochGroup(as_of, $__interval)
ORDER BY 1

-- panel: Used each day
-- about: Undecayed hours of the charged TRES of the account and all below it, by the account that users are in.
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

-- panel: The account and what is right below it
-- about: Share and use are parts of all.
-- kind: table
-- size: 24 8
-- units: share=percentunit used=percentunit
SELECT c.account, c.shares, c.shares_norm AS share, c.usage_norm AS used, c.fairshare, c.users, c.best, c.mean, c.worst
FROM fairmill_account a
JOIN fairmill_account c ON c.cluster = a.cluster AND (c.parent_id = a.id_assoc OR c.id_assoc = a.id_assoc)
WHERE a.cluster = ${cluster:sqlstring} AND a.account = ${account:sqlstring}
ORDER BY c.depth, c.account

-- panel: Its users
-- kind: table
-- size: 12 9
-- units: share=percentunit used=percentunit
-- for: operators
SELECT user_name, partition_name, shares, level_shares_norm AS share, level_usage AS used, fairshare
FROM fairmill_fairshare
WHERE cluster = ${cluster:sqlstring} AND account = ${account:sqlstring} AND user_name <> ''
ORDER BY fairshare DESC, user_name, partition_name

-- panel: Fairshare of its users over time
-- about: Of those that are in it now.
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

-- panel: Used each day by its users
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
