-- SPDX-License-Identifier: MIT
--
-- The dashboard of runs.  build-aux/dashboards.pl describes the lines before a query.

-- dashboard: health Fairshare: runs
-- about: The age of the values and the results of runs.

-- variable: cluster
SELECT DISTINCT cluster FROM fairmill_runs ORDER BY cluster

-- panel: Age
-- about: The age of the published values at the end of the displayed period.
-- kind: number
-- size: 4 4
-- unit: s
-- steps: green 900=orange 3600=red
SELECT $__unixEpochTo() - MAX(computed_at) AS age FROM fairmill_account WHERE cluster = ${cluster:sqlstring}

-- panel: Last run
-- about: The status is done if the run published values, otherwise failed.
-- kind: table
-- size: 8 4
-- units: duration=ms source_lag=s
SELECT r.status, r.kind, r.duration_ms AS duration, r.source_lag AS source_lag
FROM fairmill_runs r
WHERE r.cluster = ${cluster:sqlstring}
    AND r.run_id = (SELECT MAX(m.run_id) FROM fairmill_runs m WHERE m.cluster = r.cluster)

-- panel: Failed runs
-- about: Failed runs that began in the displayed period.
-- kind: number
-- size: 4 4
-- steps: green 1=red
SELECT COUNT(*) AS failed
FROM fairmill_runs
WHERE cluster = ${cluster:sqlstring} AND status <> 'done' AND $__unixEpochFilter(started_at)

-- panel: Findings
-- about: The number of findings in the data of the last run.
-- kind: number
-- size: 4 4
-- steps: green 1=orange
SELECT COALESCE(SUM(findings), 0) AS findings FROM fairmill_findings WHERE cluster = ${cluster:sqlstring}

-- panel: Drift
-- about: The error of the checkpoint's sums when a run last compared them with all jobs, in TRES-seconds.  It should be 0.
-- kind: number
-- size: 4 4
-- steps: green 0.000001=red
SELECT drift_max AS drift
FROM fairmill_runs
WHERE cluster = ${cluster:sqlstring} AND drift_max IS NOT NULL
ORDER BY run_id DESC
LIMIT 1

-- panel: Duration of runs
-- about: Full runs read all jobs; incremental runs read only new and changed jobs.
-- kind: curves
-- size: 12 9
-- unit: ms
SELECT $__unixEpochGroup(started_at, $__interval) AS time, kind AS metric, MAX(duration_ms) AS duration
FROM fairmill_runs
WHERE cluster = ${cluster:sqlstring} AND $__unixEpochFilter(started_at)
GROUP BY $__unixEpochGroup(started_at, $__interval), kind
ORDER BY 1, 2

-- panel: Lag of the accounting database
-- about: The time from the newest end of a job to the run.
-- kind: curves
-- size: 12 9
-- unit: s
SELECT $__unixEpochGroup(started_at, $__interval) AS time, MAX(source_lag) AS source_lag
FROM fairmill_runs
WHERE cluster = ${cluster:sqlstring} AND $__unixEpochFilter(started_at) AND source_lag IS NOT NULL
GROUP BY $__unixEpochGroup(started_at, $__interval)
ORDER BY 1

-- panel: Rows
-- about: Job rows that runs read and associations that they published.
-- kind: curves
-- size: 12 9
SELECT $__unixEpochGroup(started_at, $__interval) AS time, MAX(jobs_read) AS jobs, MAX(associations) AS associations
FROM fairmill_runs
WHERE cluster = ${cluster:sqlstring} AND $__unixEpochFilter(started_at)
GROUP BY $__unixEpochGroup(started_at, $__interval)
ORDER BY 1

-- panel: Runs by status
-- kind: days
-- size: 12 9
SELECT $__unixEpochGroup(started_at, $__interval) AS time, status AS metric, COUNT(*) AS runs
FROM fairmill_runs
WHERE cluster = ${cluster:sqlstring} AND $__unixEpochFilter(started_at)
GROUP BY $__unixEpochGroup(started_at, $__interval), status
ORDER BY 1, 2

-- panel: Findings by kind
-- about: fairmill-tables(7) explains each kind and what to do about it.
-- kind: table
-- size: 12 8
-- units: first_seen=dateTimeAsIso last_seen=dateTimeAsIso
SELECT kind, findings, first_seen * 1000 AS first_seen, last_seen * 1000 AS last_seen
FROM fairmill_findings
WHERE cluster = ${cluster:sqlstring}
ORDER BY findings DESC, kind

-- panel: Drift over time
-- kind: points
-- size: 12 8
SELECT started_at AS time, drift_max AS drift
FROM fairmill_runs
WHERE cluster = ${cluster:sqlstring} AND $__unixEpochFilter(started_at) AND drift_max IS NOT NULL
ORDER BY 1

-- panel: Failed runs and their messages
-- kind: table
-- size: 24 8
-- units: began=dateTimeAsIso
-- for: operators
SELECT started_at * 1000 AS began, status, host, message
FROM fairmill_run
WHERE cluster = ${cluster:sqlstring} AND status <> 'done' AND $__unixEpochFilter(started_at)
ORDER BY run_id DESC
LIMIT 100

-- panel: Findings
-- about: The subject and details of each finding.
-- kind: table
-- size: 24 10
-- units: last_seen=dateTimeAsIso
-- for: operators
SELECT kind, subject, count, last_seen * 1000 AS last_seen, detail
FROM fairmill_finding
WHERE cluster = ${cluster:sqlstring}
ORDER BY kind, subject
LIMIT 500
