/* SPDX-License-Identifier: MIT */
#include "source/slurmdbd/slurmdbd_tables.h"

#include <inttypes.h>

#include "db/db.h"

/* slurmdbd's layout, and its clusters; slurmdbd_small.c reads what else is small, slurmdbd_jobs.c
 * the jobs, slurmdbd_changes.c what was done to associations. */

static int read_clusters(const struct source *source, struct cluster_list *list, struct error *err)
{
    *list = (struct cluster_list){ 0 };
    if (slurmdbd_each_cluster(source, reading_cluster, list, err)) {
        cluster_list_free(list);
        return -1;
    }
    reading_sort_clusters(list);
    return 0;
}

struct identity_reader {
    const char *cluster;
    struct text *identity;
};

static int take_identity(void *context, const struct db_value *row, struct error *err)
{
    const struct identity_reader *reader = context;
    (void)err;
    if (row[0].type == DB_TEXT && reads_as(row[0].text.bytes, row[0].text.length, reader->cluster))
        text_format(reader->identity, "creation_time %" PRId64 ", id %" PRId64,
                    db_value_integer(&row[2], 0), db_value_integer(&row[3], 0));
    return 0;
}

static int identify(const struct source *source, struct text *identity, struct error *err)
{
    struct identity_reader reader = { source->cluster, identity };
    return slurmdbd_each_cluster(source, take_identity, &reader, err);
}

static const struct queue_port queue_port = {
    .read_facts = slurmdbd_read_facts,
    .read_accrue_limits = slurmdbd_read_accrue_limits,
    .jobs = slurmdbd_queue_of,
    .read_arrays = slurmdbd_read_arrays,
    .read_limits = slurmdbd_read_limits,
};

static const struct past_port past_port = {
    .read_changes = slurmdbd_read_changes,
    .read_factors = slurmdbd_read_factors,
    .cancelled = slurmdbd_cancelled_of,
    .rollup_reach = slurmdbd_rollup_reach,
    .rollups = slurmdbd_rollups_of,
    .read_sums = slurmdbd_read_sums,
    .find_purge = slurmdbd_find_purge,
    .identify = identify,
    .read_open_keys = slurmdbd_read_open_keys,
    .jobs_on_node = slurmdbd_jobs_on_node,
};

const struct layout layout_slurmdbd = {
    .name = "slurmdbd",
    .has_classes = true,
    .queue = &queue_port,
    .past = &past_port,
    .clusters = read_clusters,
    .read = slurmdbd_read_small,
    .jobs = slurmdbd_jobs_of,
    .suspensions = slurmdbd_suspensions_of,
    .read_ends = slurmdbd_read_ends,
    .add_grants = slurmdbd_add_grants,
    .add_missing = slurmdbd_add_missing,
};
