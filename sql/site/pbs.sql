-- SPDX-License-Identifier: MIT
--
-- A site with OpenPBS that keeps its fairshare tree and its finished jobs in tables of its own:
--
--     site_entity(id, parent_id, name, is_group, shares)
--     site_job(id, entity_id, ncpus, started, ended)       ended is NULL while the job runs
--
-- The views that fairmill reads, with [source] layout = plain, associations = site_associations and
-- usage = site_usage.  With usage_tres = site_usage_tres it also stores the usage by TRES.
CREATE VIEW site_associations AS
SELECT
    'pbs' AS cluster,
    e.id AS id,
    e.parent_id AS parent_id,
    CASE WHEN e.is_group = 1 THEN e.name ELSE p.name END AS account,
    CASE WHEN e.is_group = 1 THEN '' ELSE e.name END AS user_name,
    '' AS partition_name,
    e.shares AS shares,
    0 AS deleted
FROM site_entity e
LEFT JOIN site_entity p ON p.id = e.parent_id;

CREATE VIEW site_usage AS
SELECT
    'pbs' AS cluster,
    j.entity_id AS id,
    j.started AS time_start,
    j.ended AS time_end,
    j.ncpus AS charge
FROM site_job j;

CREATE VIEW site_usage_tres AS
SELECT
    'pbs' AS cluster,
    j.entity_id AS id,
    j.started AS time_start,
    j.ended AS time_end,
    'ncpus' AS tres,
    j.ncpus AS amount
FROM site_job j;
