-- SPDX-License-Identifier: MIT
-- The jobs that waited on a cluster.
SELECT "job_db_inx", "id_job", "user_name", "account", "partition_name", "qos", "best",
    "age_factor", "assoc_factor", "fairshare_factor", "job_size_factor", "partition_factor",
    "qos_factor", "age_weighted", "assoc_weighted", "fairshare_weighted", "job_size_weighted",
    "partition_weighted", "qos_weighted", "tres_factors", "tres_weighted", "site", "nice",
    "priority", "priority_norm"
FROM "fairmill_job_priority"
WHERE "cluster" = ?
