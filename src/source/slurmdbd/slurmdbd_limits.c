/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/usage/seal.h"
#include "db/db.h"
#include "settings/slurm/slurm_value.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/memory.h"

/* The TRES of a cluster, and what running jobs have of them. */

static const char *text_of(struct cluster_limits *limits, const struct db_value *value)
{
    bool is_text = value->type == DB_TEXT;
    return arena_copy(limits->arena, is_text ? value->text.bytes : "",
                      is_text ? value->text.length : 0);
}

static int take_tres(void *context, const struct db_value *row, struct error *err)
{
    struct cluster_limits *limits = context;
    struct text whole = { 0 };
    (void)err;
    slurmdbd_add_tres_name(&whole, row);
    limits->tres = memory_grown(limits->tres, limits->tres_count, sizeof *limits->tres);
    limits->tres[limits->tres_count++] =
        (struct tres_fact){ reading_number(&row[0]),
                            arena_copy(limits->arena, whole.bytes, whole.length) };
    text_free(&whole);
    return 0;
}

static int take_registration(void *context, const struct db_value *row, struct error *err)
{
    struct cluster_limits *limits = context;
    (void)err;
    limits->registered = text_of(limits, &row[0]);
    return 0;
}

static int take_job(void *context, const struct db_value *row, struct error *err)
{
    struct cluster_limits *limits = context;
    (void)err;
    limits->jobs = memory_grown(limits->jobs, limits->job_count, sizeof *limits->jobs);
    limits->jobs[limits->job_count++] = (struct running_job){
        .association = reading_number(&row[0]),
        .qos = reading_number(&row[1]),
        .start = reading_number(&row[2]),
        .time_limit = reading_number(&row[3]),
        .tres = text_of(limits, &row[4]),
    };
    return 0;
}

static int read_running(const struct source *source, uint64_t instant,
                        struct cluster_limits *limits, struct error *err)
{
    const struct db_value now = slurmdbd_instant(instant), arguments[] = { now, now };
    const struct query query = {
        .sql = "SELECT \"id_assoc\", \"id_qos\", \"time_start\", \"timelimit\", \"tres_alloc\""
               " FROM {} WHERE (\"time_end\" = 0 OR \"time_end\" > ?) AND \"time_start\" > 0"
               " AND \"time_start\" <= ?",
        .arguments = arguments,
        .argument_count = 2,
        .types = "iiiit"
    };
    return slurmdbd_read(source, &slurmdbd_jobs, &query, take_job, limits, err);
}

int slurmdbd_read_limits(const struct source *source, uint64_t instant, bool running,
                         struct cluster_limits *limits, struct error *err)
{
    *limits = (struct cluster_limits){ .arena = arena_create(), .registered = "" };
    if ((running && read_running(source, instant, limits, err)) ||
        slurmdbd_each_tres(source, take_tres, limits, err) ||
        slurmdbd_each_registration(source, take_registration, limits, err)) {
        cluster_limits_free(limits);
        return -1;
    }
    return 0;
}

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

static int take_nodes(void *context, const struct db_value *row, struct error *err)
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
        slurmdbd_probe_and_read(source, &slurmdbd_job_nodes, &query, take_nodes, &search, err);
    job_keys_sort(ids);
    return result;
}
