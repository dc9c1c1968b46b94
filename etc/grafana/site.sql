-- SPDX-License-Identifier: MIT
--
-- The dashboard of a site.  build-aux/dashboards.pl describes the lines before a query.

-- dashboard: site Fairshare: the site
-- about: Shares and usage of accounts, and pending jobs.

-- variable: cluster
SELECT DISTINCT cluster FROM fairmill_account ORDER BY cluster

-- panel: Published
-- about: The time for which these values were computed.
-- kind: number
-- size: 4 4
-- unit: dateTimeFromNow
SELECT MAX(computed_at) * 1000 AS published FROM fairmill_account WHERE cluster = ${cluster:sqlstring}

-- panel: Accounts and users
-- about: A user in several accounts or partitions is counted once for each.
-- kind: number
-- size: 5 4
SELECT COUNT(*) - 1 AS accounts, SUM(users) AS users
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring}

-- panel: Capacity in use
-- about: Decayed usage divided by the decayed capacity of the cluster.  Empty if the capacity is unknown.
-- kind: number
-- size: 5 4
-- unit: percentunit
SELECT capacity_usage AS used
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND parent_id IS NULL

-- panel: Pending jobs
-- kind: number
-- size: 5 4
SELECT COALESCE(SUM(jobs), 0) AS jobs FROM fairmill_waiting WHERE cluster = ${cluster:sqlstring}

-- panel: Algorithm
-- about: The algorithm and half-life, in seconds, of the last run that published.
-- kind: table
-- size: 5 4
-- units: half_life=s
SELECT r.algorithm, r.half_life
FROM fairmill_runs r
WHERE r.cluster = ${cluster:sqlstring}
    AND r.run_id = (SELECT MAX(a.run_id) FROM fairmill_account a WHERE a.cluster = r.cluster)

-- panel: Over- and underserved
-- about: Usage divided by share, for the accounts directly below the root.  1 means that usage equals the share, and
-- about: 2 that it is twice the share.  Accounts with a lower value rank higher.  Accounts without shares of their own
-- about: are omitted.
-- kind: bars
-- size: 12 9
-- steps: blue 0.8=green 1.25=orange 2=red
SELECT account, level_usage / level_shares_norm AS usage_over_share
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND depth = 1 AND level_shares_norm > 0 AND shares IS NOT NULL
ORDER BY 2 DESC, account

-- panel: Share and usage
-- about: Shares and usage of the accounts directly below the root, as fractions of the sum over these accounts.
-- kind: pairs
-- size: 12 9
-- unit: percentunit
SELECT account, level_shares_norm AS share, level_usage AS used
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND depth = 1 AND shares IS NOT NULL
ORDER BY level_shares_norm DESC, account

-- panel: Usage divided by share, over time
-- about: For the accounts directly below the root, with the shares of each time.  1 means that usage equals the share.
-- about: The scale is logarithmic, so 2 and 0.5 are equally far from 1.
-- kind: ratios
-- size: 12 9
SELECT $__unixEpochGroup(h.as_of, $__interval) AS time, h.account AS metric, AVG(1 / h.level_fs) AS usage_over_share
FROM fairmill_account_history h
JOIN fairmill_account r ON r.cluster = h.cluster AND r.parent_id IS NULL AND r.id_assoc = h.parent_id
WHERE h.cluster = ${cluster:sqlstring} AND $__unixEpochFilter(h.as_of) AND h.level_fs > 0 AND h.level_fs < 1e99
GROUP BY $__unixEpochGroup(h.as_of, $__interval), h.account
ORDER BY 1, 2

-- panel: Usage over time
-- about: Decayed usage of the accounts directly below the root, as fractions of the cluster's decayed usage.
-- kind: shares
-- size: 12 9
-- unit: percentunit
SELECT $__unixEpochGroup(h.as_of, $__interval) AS time, h.account AS metric, AVG(h.usage_raw / t.usage_raw) AS used
FROM fairmill_account r
JOIN fairmill_account_history t ON t.cluster = r.cluster AND t.id_assoc = r.id_assoc
JOIN fairmill_account_history h ON h.cluster = t.cluster AND h.as_of = t.as_of AND h.parent_id = t.id_assoc
WHERE r.cluster = ${cluster:sqlstring} AND r.parent_id IS NULL AND $__unixEpochFilter(t.as_of) AND t.usage_raw > 0
GROUP BY $__unixEpochGroup(h.as_of, $__interval), h.account
ORDER BY 1, 2

-- panel: Fairness of usage
-- about: Jain's index of usage divided by share.  1 means that all have used the same part of their entitlement.  One
-- about: curve is for the accounts directly below the root, the other for all users.
-- kind: curves
-- size: 12 9
SELECT $__unixEpochGroup(f.as_of, $__interval) AS time, f.scope AS metric, AVG(f.jain) AS jain
FROM fairmill_fairness f
WHERE f.cluster = ${cluster:sqlstring} AND $__unixEpochFilter(f.as_of) AND f.jain IS NOT NULL
GROUP BY $__unixEpochGroup(f.as_of, $__interval), f.scope
ORDER BY 1, 2

-- panel: Median wait by week
-- about: The median of the times for which jobs waited, by partition and by the week in which they started.  It is
-- about: interpolated between 0, 1, 5 and 15 minutes, 1, 4 and 12 hours, and 1, 3 and 7 days.  The first and the last
-- about: week are incomplete.
-- kind: curves
-- size: 12 9
-- unit: s
WITH counts AS (
    SELECT day + 43200 - (day - 302400) % 604800 AS week, partition_name,
        CASE bucket_s WHEN 60 THEN 0 WHEN 300 THEN 60 WHEN 900 THEN 300 WHEN 3600 THEN 900 WHEN 14400 THEN 3600
            WHEN 43200 THEN 14400 WHEN 86400 THEN 43200 WHEN 259200 THEN 86400 WHEN 604800 THEN 259200
            ELSE 604800 END AS from_s,
        CASE WHEN bucket_s < 0 THEN 604800 ELSE bucket_s END AS to_s,
        SUM(jobs) AS jobs
    FROM fairmill_partition_wait_day
    WHERE cluster = ${cluster:sqlstring} AND $__unixEpochFilter(day)
    GROUP BY 1, 2, 3, 4
), sums AS (
    SELECT week, partition_name, from_s, to_s, jobs,
        SUM(jobs) OVER (PARTITION BY week, partition_name ORDER BY from_s, to_s) AS up_to,
        SUM(jobs) OVER (PARTITION BY week, partition_name) AS total
    FROM counts
)
SELECT week AS time, partition_name AS metric, from_s + (to_s - from_s) * (0.5e0 * total - up_to + jobs) / jobs AS waited
FROM sums
WHERE up_to >= 0.5e0 * total AND up_to - jobs < 0.5e0 * total
ORDER BY 1, 2

-- panel: 90th percentile of waits by week
-- about: Nine of ten jobs waited at most that long.  The longest time is 7 days, which means 7 days or longer.
-- kind: curves
-- size: 12 9
-- unit: s
WITH counts AS (
    SELECT day + 43200 - (day - 302400) % 604800 AS week, partition_name,
        CASE bucket_s WHEN 60 THEN 0 WHEN 300 THEN 60 WHEN 900 THEN 300 WHEN 3600 THEN 900 WHEN 14400 THEN 3600
            WHEN 43200 THEN 14400 WHEN 86400 THEN 43200 WHEN 259200 THEN 86400 WHEN 604800 THEN 259200
            ELSE 604800 END AS from_s,
        CASE WHEN bucket_s < 0 THEN 604800 ELSE bucket_s END AS to_s,
        SUM(jobs) AS jobs
    FROM fairmill_partition_wait_day
    WHERE cluster = ${cluster:sqlstring} AND $__unixEpochFilter(day)
    GROUP BY 1, 2, 3, 4
), sums AS (
    SELECT week, partition_name, from_s, to_s, jobs,
        SUM(jobs) OVER (PARTITION BY week, partition_name ORDER BY from_s, to_s) AS up_to,
        SUM(jobs) OVER (PARTITION BY week, partition_name) AS total
    FROM counts
)
SELECT week AS time, partition_name AS metric, from_s + (to_s - from_s) * (0.9e0 * total - up_to + jobs) / jobs AS waited
FROM sums
WHERE up_to >= 0.9e0 * total AND up_to - jobs < 0.9e0 * total
ORDER BY 1, 2

-- panel: Usage by day
-- about: Undecayed usage by the account of the users, in hours of the charged TRES.  Shows the ten accounts with the
-- about: most usage in this period.  The last day is incomplete.
-- kind: days
-- size: 12 9
-- unit: h
SELECT d.day AS time, d.account AS metric, d.tres_seconds / 3600 AS used
FROM fairmill_account_day d
JOIN (
    SELECT account, SUM(tres_seconds) AS used
    FROM fairmill_account_day
    WHERE cluster = ${cluster:sqlstring} AND $__unixEpochFilter(day)
    GROUP BY account
    ORDER BY 2 DESC, account
    LIMIT 10
) most ON most.account = d.account
WHERE d.cluster = ${cluster:sqlstring} AND $__unixEpochFilter(d.day)
ORDER BY 1, 2

-- panel: Capacity in use over time
-- about: Decayed usage divided by the decayed capacity, as if the cluster had always had its present capacity.
-- kind: curves
-- size: 12 9
-- unit: percentunit
SELECT $__unixEpochGroup(h.as_of, $__interval) AS time, AVG(h.usage_raw * r.capacity_usage / r.usage_raw) AS used
FROM fairmill_account r
JOIN fairmill_account_history h ON h.cluster = r.cluster AND h.id_assoc = r.id_assoc
WHERE r.cluster = ${cluster:sqlstring} AND r.parent_id IS NULL AND r.usage_raw > 0 AND r.capacity_usage IS NOT NULL
    AND $__unixEpochFilter(h.as_of)
GROUP BY $__unixEpochGroup(h.as_of, $__interval)
ORDER BY 1

-- panel: GPU-hours by day
-- about: Undecayed usage of gres/gpu by the account of the users.  Shows the ten accounts with the most usage in this
-- about: period.  The last day is incomplete.  Empty if the cluster has no GPUs.
-- kind: days
-- size: 12 9
-- unit: h
SELECT d.day AS time, d.account AS metric, d.seconds / 3.6e3 AS used
FROM fairmill_account_tres_day d
JOIN (
    SELECT account, SUM(seconds) AS used
    FROM fairmill_account_tres_day
    WHERE cluster = ${cluster:sqlstring} AND tres = 'gres/gpu' AND $__unixEpochFilter(day)
    GROUP BY account
    ORDER BY 2 DESC, account
    LIMIT 10
) most ON most.account = d.account
WHERE d.cluster = ${cluster:sqlstring} AND d.tres = 'gres/gpu' AND $__unixEpochFilter(d.day)
ORDER BY 1, 2

-- panel: Limits of TRES minutes
-- about: Every GrpTRESMins limit.  The limit that is reached first comes first, if usage continues as in the last seven
-- about: days.
-- kind: table
-- size: 24 8
-- units: exhausted_at=dateTimeAsIso
-- for: operators
SELECT b.kind, b.account, b.user_name, b.qos, b.tres, b.limit_minutes, b.used_minutes, b.running_minutes, b.left_minutes,
    b.exhausted_at * 1000 AS exhausted_at
FROM fairmill_budget b
WHERE b.cluster = ${cluster:sqlstring}
ORDER BY CASE WHEN b.exhausted_at IS NULL THEN 1 ELSE 0 END, b.exhausted_at, b.kind, b.id, b.tres
LIMIT 500

-- panel: Fairshare by account
-- about: All accounts.  Share and usage are fractions of the cluster.  Best, mean and worst are the fairshare of the
-- about: users directly in the account.
-- kind: table
-- size: 24 10
-- units: share=percentunit used=percentunit
SELECT account, depth, shares, shares_norm AS share, usage_norm AS used,
    CASE WHEN shares_norm > 0 THEN usage_norm / shares_norm END AS usage_over_share,
    fairshare, users, best, mean, worst
FROM fairmill_account
WHERE cluster = ${cluster:sqlstring} AND parent_id IS NOT NULL
ORDER BY depth, account

-- panel: Queue by partition
-- about: Pending jobs, each in the partition where its priority is highest, with the highest and the lowest priority.
-- kind: table
-- size: 12 8
SELECT w.partition, w.jobs, w.highest, w.lowest
FROM fairmill_waiting w
WHERE w.cluster = ${cluster:sqlstring}
ORDER BY w.highest DESC, w.partition

-- panel: Queue by account
-- about: Pending jobs by account, with the highest and the lowest priority.
-- kind: table
-- size: 12 8
SELECT w.account, w.jobs, w.highest, w.lowest
FROM fairmill_account_waiting w
WHERE w.cluster = ${cluster:sqlstring}
ORDER BY w.highest DESC, w.account

-- panel: Queue by priority
-- about: The first hundred pending jobs, with the weighted factors of their priorities.
-- kind: table
-- size: 24 10
-- for: operators
SELECT j.id_job, j.user_name, j.account, j.partition_name, j.qos, j.priority, j.age_weighted, j.fairshare_weighted,
    j.job_size_weighted, j.partition_weighted, j.qos_weighted, j.nice
FROM fairmill_job_priority j
WHERE j.cluster = ${cluster:sqlstring} AND j.best = 1
ORDER BY j.priority DESC, j.id_job
LIMIT 100

-- panel: Users
-- about: The two hundred users with the highest fairshare, and their usage.
-- kind: table
-- size: 24 10
-- units: share=percentunit used=percentunit
-- for: operators
SELECT f.user_name, f.account, f.partition_name, f.fairshare, f.shares, f.shares_norm AS share, f.usage_norm AS used
FROM fairmill_fairshare f
WHERE f.cluster = ${cluster:sqlstring} AND f.user_name <> ''
ORDER BY f.fairshare DESC, f.account, f.user_name
LIMIT 200
