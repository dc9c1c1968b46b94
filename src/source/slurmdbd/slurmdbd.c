/* SPDX-License-Identifier: MIT */
#include "source/slurmdbd/slurmdbd_tables.h"

/* slurmdbd's layout, and its clusters; slurmdbd_small.c reads what else is small, slurmdbd_jobs.c
 * the jobs, slurmdbd_changes.c what was done to associations. */

static int read_clusters(const struct source *source, struct cluster_list *list, struct error *err)
{
    static const struct query query = { .sql =
                                            "SELECT \"name\", \"deleted\" FROM \"cluster_table\"",
                                        .types = "ti" };
    *list = (struct cluster_list){ 0 };
    if (slurmdbd_probe(source, &slurmdbd_clusters, NULL, err))
        return -1;
    if (slurmdbd_read(source, &slurmdbd_clusters, &query, reading_cluster, list, err)) {
        cluster_list_free(list);
        return -1;
    }
    reading_sort_clusters(list);
    return 0;
}

const struct layout layout_slurmdbd = {
    .name = "slurmdbd",
    .clusters = read_clusters,
    .read = slurmdbd_read_small,
    .read_changes = slurmdbd_read_changes,
    .jobs = slurmdbd_jobs_of,
    .suspensions = slurmdbd_suspensions_of,
    .read_ends = slurmdbd_read_ends,
    .rollup_reach = slurmdbd_rollup_reach,
    .rollups = slurmdbd_rollups_of,
    .find_purge = slurmdbd_find_purge,
    .read_open_keys = slurmdbd_read_open_keys,
    .read_facts = slurmdbd_read_facts,
    .queue = slurmdbd_queue_of,
    .add_grants = slurmdbd_add_grants,
};
