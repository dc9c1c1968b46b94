/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "settings/slurm/slurm_hosts.h"
#include "core/usage/seal.h"
#include "db/db.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"

/* On which nodes jobs ran: nodelist, a list of hosts as slurm.conf has them. */

/* No cluster has as many nodes. */
#define NODES_AT_MOST 1000000

struct search {
    const char *node;
    size_t length;
    bool found;
    struct job_keys *ids;
};

static void take_node(void *context, const char *name, size_t length)
{
    struct search *search = context;
    search->found |= length == search->length && !memcmp(name, search->node, length);
}

static int take_job(void *context, const struct db_value *row, struct error *err)
{
    struct search *search = context;
    (void)err;
    if (row[1].type != DB_TEXT)
        return 0;
    struct text list = { 0 };
    size_t left = NODES_AT_MOST;
    struct slurm_hosts hosts = { take_node, search, &left };
    text_add(&list, "");
    text_add_bytes(&list, row[1].text.bytes, row[1].text.length);
    search->found = false;
    slurm_hosts_expand(&hosts, list.bytes); /* what makes no sense names no node */
    if (search->found)
        job_keys_add(search->ids, (uint64_t)db_value_integer(&row[0], 0));
    text_free(&list);
    return 0;
}

int slurmdbd_jobs_on_node(const struct source *source, const char *node, uint64_t from, uint64_t to,
                          struct job_keys *ids, struct error *err)
{
    struct search search = { .node = node, .length = strlen(node), .ids = ids };
    const struct db_value span[] = { slurmdbd_instant(from), slurmdbd_instant(to) };
    const struct query query = { "SELECT \"id_job\", \"nodelist\" FROM {} WHERE \"time_end\" >= ?"
                                 " AND \"time_end\" > 0 AND \"time_start\" > 0"
                                 " AND \"time_start\" <= ?",
                                 span, 2, "it", true };
    if (slurmdbd_probe(source, &slurmdbd_jobs, NULL, err))
        return -1;
    int result =
        slurmdbd_probe_and_read(source, &slurmdbd_job_nodes, &query, take_job, &search, err);
    job_keys_sort(ids);
    return result;
}
