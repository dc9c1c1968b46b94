/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "db/db.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/memory.h"

/* The TRES of a cluster, and what running jobs have of them. */

/* Those that every slurmdbd has under these ids. */
static const char *const usual[] = { "cpu",     "mem",     "energy", "node",
                                     "billing", "fs/disk", "vmem",   "pages" };

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

struct tres_search {
    const char *name;
    uint64_t id;
};

static int match_tres(void *context, const struct db_value *row, struct error *err)
{
    struct tres_search *search = context;
    struct text whole = { 0 };
    (void)err;
    slurmdbd_add_tres_name(&whole, row);
    if (!strcasecmp(whole.bytes, search->name))
        search->id = reading_number(&row[0]);
    text_free(&whole);
    return 0;
}

int slurmdbd_find_tres(const struct source *source, const char *name, uint64_t *id,
                       struct error *err)
{
    struct tres_search search = { name, 0 };
    static const struct query query = { .sql = "SELECT \"id\", \"type\", \"name\" FROM {}",
                                        .types = "itt" };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!strcasecmp(name, usual[i]))
            search.id = i + 1;
    if (!search.id &&
        slurmdbd_probe_and_read(source, &slurmdbd_tres, &query, match_tres, &search, err))
        return -1;
    *id = search.id;
    return 0;
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
