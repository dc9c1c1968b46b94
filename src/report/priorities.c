/* SPDX-License-Identifier: MIT */
#include "report/priorities.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/priority/formula_jobs.h"
#include "core/priority/job_ids.h"
#include "core/priority/priority.h"
#include "core/priority/queue.h"
#include "report/permissions.h"
#include "report/table.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

const char *const prio_part_names[PRIO_PARTS] = { "age",      "assoc",     "fairshare",
                                                  "job_size", "partition", "qos" };

struct report_priority_adder {
    struct prio_list *list;
    const struct queue *queue;
    bool (*wanted)(const void *context, const struct priority_job *job);
    const void *context;
};

static const char *as_text(struct report_priority_adder *adder, const char *name)
{
    return prio_list_text(adder->list, name, strlen(name));
}

static const char *report_priority_tres_text(struct report_priority_adder *adder,
                                             const struct queue_row *row, bool weighted)
{
    struct text text = { 0 };
    text_add(&text, "");
    priority_add_tres(&text, &adder->queue->options, row->counts, row->partition, weighted);
    const char *copy = as_text(adder, text.bytes);
    text_free(&text);
    return copy;
}

static const char *report_priority_id(struct report_priority_adder *adder,
                                      const struct priority_job *job)
{
    struct text text = { 0 };
    job_id_add(&text, job, names_text(adder->queue->names, job->array_tasks));
    const char *copy = as_text(adder, text.bytes);
    text_free(&text);
    return copy;
}

static const char *report_priority_detail(struct report_priority_adder *adder,
                                          const struct queue_row *row)
{
    struct text text = { 0 };
    text_add(&text, "");
    queue_row_add_detail(adder->queue, row, &text);
    const char *copy = as_text(adder, text.bytes);
    text_free(&text);
    return copy;
}

/* Returns a number, or PRIO_UNKNOWN for PRIORITY_NO_NUMBER. */
static int64_t report_priority_number(uint32_t number)
{
    return number == PRIORITY_NO_NUMBER ? PRIO_UNKNOWN : (int64_t)number;
}

static void fill_parts(double parts[PRIO_PARTS], const struct priority_parts *from)
{
    parts[PRIO_AGE] = from->age;
    parts[PRIO_ASSOC] = from->association;
    parts[PRIO_FAIRSHARE] = from->fairshare;
    parts[PRIO_JOB_SIZE] = from->job_size;
    parts[PRIO_PARTITION] = from->partition;
    parts[PRIO_QOS] = from->qos;
}

static int report_priority_add_row(void *context, const struct queue_row *row, struct error *err)
{
    struct report_priority_adder *adder = context;
    const struct names *names = adder->queue->names;
    (void)err;
    if (adder->wanted && !adder->wanted(adder->context, row->job))
        return 0;
    struct prio_row added = {
        .key = row->job->key,
        .id_job = row->job->id_job,
        .user = as_text(adder, names_text(names, row->job->user)),
        .account = as_text(adder, names_text(names, row->job->account)),
        .partition = as_text(adder, row->partition->name),
        .qos = as_text(adder, row->qos->name),
        .tres_factors = report_priority_tres_text(adder, row, false),
        .tres_weighted = report_priority_tres_text(adder, row, true),
        .priority = row->job->lost ? 0 : row->priority.value,
        .has_priority = !row->job->lost,
        .value = NAN,
        .terms = "",
        .job_id = report_priority_id(adder, row->job),
        .tier = row->partition->tier < 0 ? PRIO_UNKNOWN : row->partition->tier,
        .pool = as_text(adder, row->partition->pool),
        .place = row->place,
        .reason = row->reason,
        .detail = report_priority_detail(adder, row),
        .array_job = row->job->id_array,
        .array_task = report_priority_number(row->job->array_task),
        .het_job = row->job->id_het,
        .het_offset = report_priority_number(row->job->het_offset),
        .facts = queue_job_facts(adder->queue, row->job),
        .norm = row->job->lost ? NAN : row->priority.norm,
        .best = row->best,
    };
    fill_parts(added.factor, &row->priority.factor);
    fill_parts(added.weighted, &row->priority.weighted);
    prio_list_add(adder->list, &added);
    return 0;
}

void prio_list_add_queue(struct prio_list *list, const struct queue *queue,
                         bool (*wanted)(const void *context, const struct priority_job *job),
                         const void *context)
{
    struct error ignored;
    struct report_priority_adder adder = { list, queue, wanted, context };
    queue_each(queue, report_priority_add_row, &adder, &ignored);
}

struct prio_list *prio_list_create(const char *cluster, int64_t as_of)
{
    struct prio_list *list = memory_zeroed(1, sizeof *list);
    *list = (struct prio_list){
        .cluster = memory_text(cluster),
        .as_of = as_of,
        .weights = { .tres = "" },
        .arena = arena_create(),
    };
    return list;
}

void prio_list_destroy(struct prio_list *list)
{
    if (!list)
        return;
    free(list->cluster);
    arena_destroy(list->arena);
    free(list->rows);
    free(list);
}

const char *prio_list_text(struct prio_list *list, const char *bytes, size_t length)
{
    return utf8_copy_in(list->arena, bytes, length);
}

void prio_list_add(struct prio_list *list, const struct prio_row *row)
{
    struct prio_row *added = memory_append(&list->rows, &list->count);
    *added = *row;
    added->what_if = NAN;
    if (!added->job_id) {
        char id[24];
        int length = snprintf(id, sizeof id, "%" PRId64, row->id_job);
        added->job_id = arena_copy(list->arena, id, (size_t)length);
    }
}

bool prio_is_job(const char *asked, const struct prio_row *row)
{
    uint64_t number;
    if (name_is(asked, row->job_id))
        return true;
    if (number_unsigned(asked, strlen(asked), &number))
        return row->id_job && number == (uint64_t)row->id_job;
    return row->array_task == PRIO_UNKNOWN &&
           job_id_may_have_task(row->job_id, row->array_job, asked);
}

static bool is_wanted(const struct prio_filter *filter, const char *cluster,
                      const struct prio_row *row)
{
    bool wanted = !filter->jobs.count;
    for (size_t i = 0; !wanted && i < filter->jobs.count; i++)
        wanted = prio_is_job(filter->jobs.values[i], row);
    return wanted && permissions_show_job(filter->permissions, cluster, row->account, row->user) &&
           name_list_wants(&filter->users, row->user) &&
           (!filter->accounts ||
            (filter->accounts->count && name_list_wants(filter->accounts, row->account))) &&
           name_list_wants(&filter->partitions, row->partition);
}

void prio_list_filter(struct prio_list *list, const struct prio_filter *filter)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (is_wanted(filter, list->cluster, &list->rows[i]))
            list->rows[kept++] = list->rows[i];
    list->count = kept;
}

const char *prio_why(const char *why)
{
    return !strcmp(why, FORMULA_JOB_HELD)      ? "it is held"
           : !strcmp(why, FORMULA_JOB_NOT_YET) ? "its start time has not come, or it is being moved"
           : !strcmp(why, FORMULA_JOB_NO_SHARES)
               ? "its entity has no shares, and fairshare_enforce_no_shares is true"
           : !strcmp(why, FORMULA_JOB_BELOW_THRESHOLD)
               ? "its value is not above job_sort_formula_threshold"
           : !strcmp(why, FORMULA_JOB_NO_FORMULA) ? "job_sort_formula is not set"
           : !strcmp(why, PRIORITY_JOB_LOST)      ? "it has been pending for longer than any limit "
                                                    "allows, so slurmctld has lost it"
                                                  : why;
}

/* Compares by pool; within a pool, the row that starts first is first. */
static int prio_compare_places(const void *a, const void *b)
{
    const struct prio_row *one = *(struct prio_row *const *)a,
                          *other = *(struct prio_row *const *)b;
    int order = strcmp(one->pool, other->pool);
    if (order)
        return order;
    if (one->tier != other->tier)
        return one->tier > other->tier ? -1 : 1;
    return (one->priority < other->priority) - (one->priority > other->priority);
}

/* Sets the places in one pool.  A job counts once, by its first row. */
static void prio_rank_pool(struct prio_row **rows, size_t count)
{
    struct id_index *places = id_index_create();
    uint32_t jobs = 0, place = 0;
    for (size_t i = 0; i < count; i++) {
        if (!i || prio_compare_places(&rows[i - 1], &rows[i]))
            place = jobs + 1;
        uint32_t known = id_index_add(places, rows[i]->key, place);
        jobs += known == INDEX_NONE;
        rows[i]->place = known == INDEX_NONE ? place : known;
    }
    id_index_destroy(places);
}

void prio_list_rank(struct prio_list *list)
{
    struct prio_row **rows = memory_zeroed(list->count + 1, sizeof *rows);
    size_t count = 0, end;
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].place)
            rows[count++] = &list->rows[i];
    if (count)
        qsort(rows, count, sizeof *rows, prio_compare_places);
    for (size_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count && !strcmp(rows[i]->pool, rows[end]->pool);)
            end++;
        prio_rank_pool(rows + i, end - i);
    }
    free(rows);
}

double prio_tres_sum(const struct prio_row *row)
{
    double sum = 0;
    for (const char *at = row->tres_weighted; (at = strchr(at, '=')); at++)
        sum += strtod(at + 1, NULL);
    return sum;
}

/* ---- The columns ---- */

enum { JOB_ID, PRIORITY, SITE, NICE, BEST, KEY, TIER, PLACE, ARRAY, TASK, HET_JOB, HET_OFFSET };

/* Fills a cell with a value that not every row has. */
static void get_whole(const void *of, struct cell *cell)
{
    const struct prio_row *row = of;
    int wanted = cell->column->index;
    if (wanted == SITE && row->site_known)
        cell_integer(cell, row->site);
    else if (wanted == NICE && row->nice_known)
        cell_integer(cell, row->nice);
    else if (wanted == JOB_ID && row->is_weights)
        cell_text(cell, "Weights");
    else if (wanted == JOB_ID)
        cell_integer(cell, row->id_job);
    else if (wanted == PRIORITY && row->has_priority)
        cell_integer(cell, row->priority);
    else if (wanted == BEST && !row->is_weights)
        cell_integer(cell, row->best);
    else if (wanted == KEY && !row->is_weights)
        cell_format(cell, "%" PRIu64, row->key);
}

/* Fills a cell of the queue or of an id; it remains empty if the row does not have the value. */
static void get_known(const void *of, struct cell *cell)
{
    const struct prio_row *row = of;
    int wanted = cell->column->index;
    int64_t value = wanted == TIER      ? row->tier
                    : wanted == PLACE   ? row->place
                    : wanted == ARRAY   ? row->array_job
                    : wanted == HET_JOB ? row->het_job
                    : wanted == TASK    ? row->array_task
                                        : row->het_offset;
    bool begins_at_1 = wanted == PLACE || wanted == ARRAY || wanted == HET_JOB;
    if (!row->is_weights && value >= begins_at_1)
        cell_integer(cell, value);
}

enum { CPUS, GPUS, LIMIT, ELIGIBLE };

/* Fills a cell; it remains empty if the fact is unknown. */
static void prio_get_fact(const void *of, struct cell *cell)
{
    const struct prio_row *row = of;
    int wanted = cell->column->index;
    int64_t fact = wanted == CPUS    ? row->facts.cpus
                   : wanted == GPUS  ? row->facts.gpus
                   : wanted == LIMIT ? row->facts.limit_s
                                     : row->facts.eligible_at;
    if (!row->is_weights && fact != JOB_FACT_UNKNOWN)
        cell_integer(cell, fact);
}

#define WEIGHTED(part) COLUMN_REAL, MEMBER(struct prio_row, weighted[part])
#define FACTOR(part) COLUMN_REAL, MEMBER(struct prio_row, factor[part]), .hidden = ONLY_IN_JSON

#define FACT(index_) .get = prio_get_fact, .index = index_, .hidden = ONLY_IN_JSON

static const struct column columns[PRIO_COLUMNS] = {
    CLUSTER_COLUMN,
    { "jobid", "JobID", COLUMN_INTEGER, .get = get_whole, .index = JOB_ID },
    { "partition", "Partition", COLUMN_TEXT, MEMBER(struct prio_row, partition) },
    { "qos_name", "QOSName", COLUMN_TEXT, MEMBER(struct prio_row, qos) },
    { "username", "User", COLUMN_TEXT, MEMBER(struct prio_row, user) },
    { "account", "Account", COLUMN_TEXT, MEMBER(struct prio_row, account) },
    { "priority", "Priority", COLUMN_INTEGER, .get = get_whole, .index = PRIORITY },
    { "site", "Site", COLUMN_INTEGER, .get = get_whole, .index = SITE },
    { "age", "Age", WEIGHTED(PRIO_AGE) },
    { "assoc", "Assoc", WEIGHTED(PRIO_ASSOC) },
    { "fairshare", "FairShare", WEIGHTED(PRIO_FAIRSHARE) },
    { "jobsize", "JobSize", WEIGHTED(PRIO_JOB_SIZE) },
    { "partition_priority", "PartitionPriority", WEIGHTED(PRIO_PARTITION) },
    { "qos", "QOS", WEIGHTED(PRIO_QOS) },
    { "nice", "Nice", COLUMN_INTEGER, .get = get_whole, .index = NICE },
    { "tres", "TRES", COLUMN_TEXT, MEMBER(struct prio_row, tres_weighted) },
    { "best", "Best", COLUMN_YES_NO, .get = get_whole, .index = BEST },
    { "priority_tier", "Tier", COLUMN_INTEGER, .get = get_known, .index = TIER },
    { "pool", "Pool", COLUMN_TEXT, MEMBER(struct prio_row, pool) },
    { "place", "Place", COLUMN_INTEGER, .get = get_known, .index = PLACE },
    { "reason", "Reason", COLUMN_TEXT, MEMBER(struct prio_row, reason) },
    { "priority_norm", "Priority", COLUMN_REAL, MEMBER(struct prio_row, norm), .decimals = 14,
      .hidden = ONLY_IN_JSON },
    { "age_factor", "Age", FACTOR(PRIO_AGE) },
    { "assoc_factor", "Assoc", FACTOR(PRIO_ASSOC) },
    { "fairshare_factor", "FairShare", FACTOR(PRIO_FAIRSHARE) },
    { "job_size_factor", "JobSize", FACTOR(PRIO_JOB_SIZE) },
    { "partition_factor", "PartitionPriority", FACTOR(PRIO_PARTITION) },
    { "qos_factor", "QOS", FACTOR(PRIO_QOS) },
    { "tres_factors", "TRES", COLUMN_TEXT, MEMBER(struct prio_row, tres_factors),
      .hidden = ONLY_IN_JSON },
    { "job_id", "OwnID", COLUMN_TEXT, MEMBER(struct prio_row, job_id), .hidden = ONLY_IN_JSON },
    { "formula_value", "Value", COLUMN_REAL, MEMBER(struct prio_row, value), .digits = 6,
      .hidden = ONLY_IN_JSON },
    { "why", "Why", COLUMN_TEXT, MEMBER(struct prio_row, why), .hidden = ONLY_IN_JSON },
    { "terms", "Terms", COLUMN_TEXT, MEMBER(struct prio_row, terms), .hidden = ONLY_IN_JSON },
    { "what_if", "WhatIf", COLUMN_REAL, MEMBER(struct prio_row, what_if), .digits = 6,
      .hidden = ONLY_IF_CHOSEN },
    { "job_db_inx", "JobDBInx", COLUMN_TEXT, .get = get_whole, .index = KEY,
      .hidden = ONLY_IN_JSON }, /* a text, because many JSON readers lose digits above 2^53 */
    { "reason_detail", "Detail", COLUMN_TEXT, MEMBER(struct prio_row, detail),
      .hidden = ONLY_IN_JSON },
    { "id_array_job", "ArrayJobID", COLUMN_INTEGER, .get = get_known, .index = ARRAY,
      .hidden = ONLY_IN_JSON },
    { "id_array_task", "ArrayTaskID", COLUMN_INTEGER, .get = get_known, .index = TASK,
      .hidden = ONLY_IN_JSON },
    { "id_het_job", "HetJobID", COLUMN_INTEGER, .get = get_known, .index = HET_JOB,
      .hidden = ONLY_IN_JSON },
    { "het_job_offset", "HetJobOffset", COLUMN_INTEGER, .get = get_known, .index = HET_OFFSET,
      .hidden = ONLY_IN_JSON },
    { "cpus", "CPUs", COLUMN_INTEGER, FACT(CPUS) },
    { "gpus", "GPUs", COLUMN_INTEGER, FACT(GPUS) },
    { "limit_seconds", "LimitSeconds", COLUMN_INTEGER, FACT(LIMIT) },
    { "eligible_at", "EligibleAt", COLUMN_TIME, FACT(ELIGIBLE) },
    { .name = NULL },
};

/* Swaps each factor with its weighted value, which has the same heading. */
void prio_columns(struct column copy[PRIO_COLUMNS], bool normalized)
{
    memcpy(copy, columns, sizeof columns);
    for (size_t i = 0; normalized && copy[i].name; i++)
        for (size_t j = i + 1; copy[j].name; j++)
            if (!strcmp(columns[i].heading, columns[j].heading)) {
                copy[i] = columns[j];
                copy[j] = columns[i];
                copy[i].hidden = columns[i].hidden;
                copy[j].hidden = columns[j].hidden;
            }
}

void prio_columns_of_formula(struct column copy[PRIO_COLUMNS])
{
    static const char *const names[] = { "job_id", "formula_value", "why", "terms" };
    for (size_t i = 0; copy[i].name; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(copy[i].name, names[k]))
                copy[i].hidden = NOT_FOR_PEOPLE;
}

static json_t *json_weights(const struct prio_weights *weights)
{
    json_t *object = json_object();
    for (enum prio_part part = 0; part < PRIO_PARTS; part++)
        json_object_set_new(object, prio_part_names[part],
                            json_integer((json_int_t)weights->of[part]));
    json_object_set_new(object, "tres", json_string(weights->tres));
    return object;
}

static void report_priority_add_weights(const struct prio_list *list, struct table *table)
{
    const struct prio_weights *weights = &list->weights;
    struct prio_row row = { .is_weights = true,
                            .tres_factors = weights->tres,
                            .tres_weighted = weights->tres,
                            .site = 1,
                            .site_known = true,
                            .norm = NAN,
                            .value = NAN,
                            .what_if = NAN };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++)
        row.factor[part] = row.weighted[part] = (double)weights->of[part];
    table_add(table, &row);
}

void prio_list_print(const struct prio_list *list, struct table *table, bool only_weights)
{
    struct table_cluster cluster = { .name = list->cluster, .context = list };
    if (table_has_facts(table))
        cluster.facts = json_pack("{s:I, s:o*}", "as_of", (json_int_t)list->as_of, "weights",
                                  list->of_formula ? NULL : json_weights(&list->weights));
    table_open(table, &cluster);
    if (only_weights && !table_has_facts(table))
        report_priority_add_weights(list, table);
    for (size_t i = 0; !only_weights && i < list->count; i++)
        table_add(table, &list->rows[i]);
    table_close(table);
}
