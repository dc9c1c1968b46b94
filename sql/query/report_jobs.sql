-- SPDX-License-Identifier: MIT
-- The jobs that waited on a cluster, the highest priority first.
SELECT "id_job", "user_name", "account", "partition_name", "qos", "priority", "age_weighted",
    "assoc_weighted", "fairshare_weighted", "job_size_weighted", "partition_weighted",
    "qos_weighted", "tres_weighted", "site", "nice"
FROM "fairmill_job_priority"
WHERE "cluster" = ? AND "best" = 1
ORDER BY "priority" DESC, "id_job"
