-- SPDX-License-Identifier: MIT
--
-- A cloud that meters its projects by the hour, without users below them:
--
--     project(id, name, shares)             id is 1 or more
--     meter(project_id, hour, cpu_seconds)  hour is the start of an hour, in epoch seconds
--
-- Association 1 is the root.  A project's account and its user get the ids 2 * id and 2 * id + 1.
--
-- The views that fairmill reads, with [source] layout = plain, associations = metered_projects and
-- usage = metered_hours.  Every project is an account with one user of the same name.
CREATE VIEW metered_projects AS
SELECT 'cloud' AS cluster, 1 AS id, 0 AS parent_id, 'root' AS account, '' AS user_name,
    '' AS partition_name, 1 AS shares, 0 AS deleted
UNION ALL
SELECT 'cloud', 2 * p.id, 1, p.name, '', '', p.shares, 0 FROM project p
UNION ALL
SELECT 'cloud', 2 * p.id + 1, 2 * p.id, p.name, p.name, '', 1, 0 FROM project p;

CREATE VIEW metered_hours AS
SELECT
    'cloud' AS cluster,
    2 * m.project_id + 1 AS id,
    m.hour AS time_start,
    m.hour + 3600 AS time_end,
    m.cpu_seconds / 3600e0 AS charge
FROM meter m;
