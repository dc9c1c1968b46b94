/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "core/usage/checkpoint.h"
#include "db/db.h"
#include "settings/slurm/slurm_value.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"

/*
 * The layout `slurmdbd` and its clusters. slurmdbd_small.c reads the other small tables,
 * slurmdbd_jobs.c the jobs, and slurmdbd_changes.c the changes of associations.
 */

static int slurmdbd_read_clusters(const struct source *source, struct cluster_list *list,
                                  struct error *err)
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

/* Finds the jobs that ran on a node, from the column nodelist, a host list like in slurm.conf. */

/* The maximum number of nodes in a list.  No cluster has as many nodes. */
#define NODES_AT_MOST 1000000

struct node_search {
    const char *node;
    size_t length;
    bool found;
    struct job_keys *ids;
};

static void slurmdbd_take_node(void *context, const char *name, size_t length)
{
    struct node_search *search = context;
    search->found |= length == search->length && !memcmp(name, search->node, length);
}

static int slurmdbd_take_nodes(void *context, const struct db_value *row, struct error *err)
{
    struct node_search *search = context;
    (void)err;
    if (row[1].type != DB_TEXT)
        return 0;
    struct text list = { 0 };
    size_t left = NODES_AT_MOST;
    struct slurm_hosts hosts = { slurmdbd_take_node, search, &left };
    text_add(&list, "");
    text_add_bytes(&list, row[1].text.bytes, row[1].text.length);
    search->found = false;
    slurm_hosts_expand(&hosts, list.bytes); /* an invalid list names no node */
    if (search->found)
        job_keys_add(search->ids, (uint64_t)db_value_integer(&row[0], 0));
    text_free(&list);
    return 0;
}

static int jobs_on_node(const struct source *source, const char *node, uint64_t from, uint64_t to,
                        struct job_keys *ids, struct error *err)
{
    struct node_search search = { .node = node, .length = strlen(node), .ids = ids };
    const struct db_value span[] = { slurmdbd_time(from), slurmdbd_time(to) };
    const struct query query = { "SELECT \"id_job\", \"nodelist\" FROM {} WHERE \"time_end\" >= ?"
                                 " AND \"time_end\" > 0 AND \"time_start\" > 0"
                                 " AND \"time_start\" <= ?",
                                 span, 2, "it", true };
    if (slurmdbd_probe(source, &slurmdbd_jobs, NULL, err))
        return -1;
    int result = slurmdbd_probe_and_read(source, &slurmdbd_job_nodes, &query, slurmdbd_take_nodes,
                                         &search, err);
    job_keys_sort(ids);
    return result;
}

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
    .jobs_on_node = jobs_on_node,
};

const struct layout layout_slurmdbd = {
    .name = "slurmdbd",
    .has_classes = true,
    .has_waits = true,
    .queue = &slurmdbd_queue_port,
    .past = &past_port,
    .clusters = slurmdbd_read_clusters,
    .read_coordinators = slurmdbd_read_coordinators,
    .read = slurmdbd_read_small,
    .jobs = slurmdbd_jobs_of,
    .suspensions = slurmdbd_suspensions_of,
    .read_ends = slurmdbd_read_ends,
    .add_grants = slurmdbd_add_grants,
    .add_missing = slurmdbd_add_missing,
};
