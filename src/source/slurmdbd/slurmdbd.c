/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "db/db.h"
#include "source/layout.h"
#include "source/reading.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"

/* slurmdbd's layout, and its clusters; slurmdbd_small.c reads what else is small, slurmdbd_jobs.c
 * the jobs, slurmdbd_changes.c what was done to associations. */

static int read_clusters(struct db *db, const struct settings *settings, struct cluster **clusters,
                         size_t *count, struct error *err)
{
    struct cluster_list list = { 0 };
    (void)settings;
    if (slurmdbd_probe(db, &slurmdbd_clusters, "", NULL, err))
        return -1;
    if (slurmdbd_read(db, &slurmdbd_clusters, "",
                      "SELECT \"name\", \"deleted\" FROM \"cluster_table\"", NULL, 0, "ti",
                      reading_cluster, &list, err)) {
        clusters_free(list.clusters, list.count);
        return -1;
    }
    reading_sort_clusters(&list);
    *clusters = list.clusters;
    *count = list.count;
    return 0;
}

const struct layout layout_slurmdbd = {
    .name = "slurmdbd",
    .clusters = read_clusters,
    .read = slurmdbd_read_small,
    .read_changes = slurmdbd_read_changes,
    .read_suspended = slurmdbd_read_suspended,
    .read_jobs = slurmdbd_read_jobs,
    .read_ends = slurmdbd_read_ends,
    .rollup_reach = slurmdbd_rollup_reach,
    .read_rollup = slurmdbd_read_rollup,
    .find_purge = slurmdbd_find_purge,
    .read_open_keys = slurmdbd_read_open_keys,
    .read_facts = slurmdbd_read_facts,
    .read_queue = slurmdbd_read_queue,
    .add_grants = slurmdbd_add_grants,
};
