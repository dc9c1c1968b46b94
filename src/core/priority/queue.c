/* SPDX-License-Identifier: MIT */
#include "core/priority/queue.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"

static void lists_create(struct queue_lists *lists)
{
    *lists = (struct queue_lists){ .number_of = id_index_create() };
    lists->starts = memory_zeroed(1, sizeof *lists->starts);
}

static void queue_lists_free(struct queue_lists *lists)
{
    id_index_destroy(lists->number_of);
    free(lists->starts);
    free(lists->places);
}

struct queue *queue_create(struct names *names)
{
    struct queue *queue = memory_zeroed(1, sizeof *queue);
    queue->names = names;
    queue->arena = arena_create();
    queue->seen_counts = names_create();
    queue->seen_requests = names_create();
    queue->options.highest_partition = 1;
    lists_create(&queue->partition_lists);
    lists_create(&queue->qos_lists);
    return queue;
}

void queue_destroy(struct queue *queue)
{
    if (!queue)
        return;
    arena_destroy(queue->arena);
    free(queue->partitions);
    free(queue->qos);
    queue_lists_free(&queue->partition_lists);
    queue_lists_free(&queue->qos_lists);
    free(queue->jobs);
    accrual_destroy(queue->accrual);
    names_destroy(queue->seen_counts);
    free(queue->counts);
    names_destroy(queue->seen_requests);
    free(queue->requests);
    places_destroy(queue->places);
    free(queue);
}

void queue_add_partition(struct queue *queue, const struct priority_partition *partition)
{
    size_t totals = queue->options.tres_count * sizeof *partition->tres_totals;
    uint32_t number = queue->partition_count;
    struct priority_partition *added = memory_append(&queue->partitions, &queue->partition_count);
    *added = *partition;
    added->name = arena_copy(queue->arena, partition->name, strlen(partition->name));
    added->pool =
        partition->pool ? arena_copy(queue->arena, partition->pool, strlen(partition->pool)) : "";
    added->pool_number = number;
    for (uint32_t i = 0; i < number; i++)
        if (!strcmp(queue->partitions[i].pool, added->pool))
            added->pool_number = queue->partitions[i].pool_number;
    if (partition->tres_totals && totals)
        added->tres_totals =
            memcpy(arena_take(queue->arena, totals), partition->tres_totals, totals);
    if (partition->factor > queue->options.highest_partition)
        queue->options.highest_partition = partition->factor;
}

struct priority_qos *queue_add_qos(struct queue *queue, uint64_t id, const char *name,
                                   uint32_t priority)
{
    struct priority_qos *added = memory_append(&queue->qos, &queue->qos_count);
    *added = (struct priority_qos){ .name = arena_copy(queue->arena, name, strlen(name)),
                                    .id = id,
                                    .priority = priority,
                                    .factor = NAN };
    if (priority > queue->options.highest_qos)
        queue->options.highest_qos = priority;
    return added;
}

static uint32_t queue_find_partition(const struct queue *queue, const char *name)
{
    for (uint32_t i = 0; i < queue->partition_count; i++)
        if (!strcmp(queue->partitions[i].name, name))
            return i;
    return INDEX_NONE;
}

/* Returns the index of the partition `name`.  Adds the partition if it does not exist, because the
 * settings might not name all partitions.  The search is linear, because there are few
 * partitions. */
static uint32_t partition_of(struct queue *queue, const char *name)
{
    uint32_t place = queue_find_partition(queue, name);
    if (place != INDEX_NONE)
        return place;
    struct priority_partition unnamed = {
        .name = name,
        .factor = queue->unnamed_factor,
        .max_minutes = PRIORITY_NO_LIMIT,
        .max_nodes = PRIORITY_NO_LIMIT,
        .tier = PRIORITY_NO_TIER,
        .pool = "",
        .limits = { .is_missing = queue->knows_partitions && *name, .max_nodes = PRIORITY_NO_LIMIT }
    };
    queue_add_partition(queue, &unnamed);
    return queue->partition_count - 1;
}

void queue_give_qos(struct queue *queue, const char *name, double factor)
{
    for (uint32_t i = 0; i < queue->qos_count; i++)
        if (!strcmp(queue->qos[i].name, name))
            queue->qos[i].factor = factor;
}

static uint32_t qos_of_id(const struct queue *queue, uint64_t id)
{
    for (uint32_t i = 0; i < queue->qos_count; i++)
        if (queue->qos[i].id == id)
            return i;
    return INDEX_NONE;
}

/* Returns the QOS with this name or, because Slurm accepts both, with this id. */
static uint32_t qos_of(const struct queue *queue, const char *name)
{
    for (uint32_t i = 0; i < queue->qos_count; i++)
        if (!strcmp(queue->qos[i].name, name))
            return i;
    uint64_t id;
    return number_unsigned(name, strlen(name), &id) ? qos_of_id(queue, id) : INDEX_NONE;
}

static void queue_add_place(struct queue_lists *lists, uint32_t place)
{
    for (uint32_t i = lists->starts[lists->count]; i < lists->place_count; i++)
        if (lists->places[i] == place)
            return;
    *memory_append(&lists->places, &lists->place_count) = place;
}

static uint32_t queue_end_list(struct queue_lists *lists)
{
    lists->starts = memory_resized(lists->starts, lists->count + 2, sizeof *lists->starts);
    lists->starts[lists->count + 1] = lists->place_count;
    return lists->count++;
}

/* Returns the next name of a list, or NULL at its end.  The caller frees the name.  As in slurmdbd,
 * spaces are part of a name.  This is why list_next(), which skips spaces, is not used. */
static char *next_name(const char **at)
{
    while (**at == ',')
        ++*at;
    size_t length = strcspn(*at, ",");
    char *name = length ? memory_bytes(*at, length) : NULL;
    *at += length;
    return name;
}

uint32_t queue_partitions(struct queue *queue, const char *bytes, size_t length)
{
    struct queue_lists *lists = &queue->partition_lists;
    uint32_t text = names_add(queue->names, bytes, length);
    uint32_t known = id_index_add(lists->number_of, text, lists->count);
    if (known != INDEX_NONE)
        return known;
    const char *at = names_text(queue->names, text);
    /* The name of a partition may itself contain a comma. */
    if (queue_find_partition(queue, at) != INDEX_NONE)
        queue_add_place(lists, queue_find_partition(queue, at));
    else
        for (char *name; (name = next_name(&at)); free(name))
            queue_add_place(lists, partition_of(queue, name));
    if (lists->starts[lists->count] == lists->place_count)
        queue_add_place(lists, partition_of(queue, ""));
    return queue_end_list(lists);
}

/* Returns a list with one QOS. */
static uint32_t single_qos(struct queue *queue, uint64_t id)
{
    char number[24] = "";
    uint32_t place = qos_of_id(queue, id);
    if (place == INDEX_NONE) {
        if (id)
            snprintf(number, sizeof number, "%" PRIu64, id);
        place = queue->qos_count;
        queue_add_qos(queue, id, number, 0);
    }
    queue_add_place(&queue->qos_lists, place);
    return queue_end_list(&queue->qos_lists);
}

/* `number_of` has two kinds of keys: the number of a list's text, and the bitwise complement of a
 * QOS id. */
uint32_t queue_qos(struct queue *queue, const char *bytes, size_t length, uint64_t id)
{
    struct queue_lists *lists = &queue->qos_lists;
    if (memchr(bytes, ',', length)) {
        uint32_t text = names_add(queue->names, bytes, length);
        uint32_t known = id_index_find(lists->number_of, text);
        if (known != INDEX_NONE)
            return known;
        const char *at = names_text(queue->names, text);
        for (char *name; (name = next_name(&at)); free(name))
            if (qos_of(queue, name) != INDEX_NONE)
                queue_add_place(lists, qos_of(queue, name));
        if (lists->place_count - lists->starts[lists->count] > 1) {
            id_index_add(lists->number_of, text, lists->count);
            return queue_end_list(lists);
        }
        lists->place_count = lists->starts[lists->count];
    }
    uint32_t known = id_index_add(lists->number_of, ~id, lists->count);
    return known != INDEX_NONE ? known : single_qos(queue, id);
}

static uint32_t number_of_counts(struct queue *queue, const uint64_t *counts)
{
    size_t count = queue->options.tres_count, size = count * sizeof *counts;
    if (!count)
        return 0;
    uint32_t fresh = names_count(queue->seen_counts);
    uint32_t number = names_add(queue->seen_counts, (const char *)counts, size);
    if (number < fresh)
        return number;
    queue->counts = memory_grown(queue->counts, number, size);
    memcpy(queue->counts + number * count, counts, size);
    return number;
}

uint32_t queue_request(struct queue *queue, const char *bytes, size_t length,
                       struct job_request **added)
{
    uint32_t fresh = names_count(queue->seen_requests);
    uint32_t number = names_add(queue->seen_requests, bytes, length);
    *added = number < fresh ? NULL : memory_append(&queue->requests, &queue->request_count);
    if (*added)
        **added = (struct job_request){ 0 };
    return number;
}

struct job_facts queue_job_facts(const struct queue *queue, const struct priority_job *job)
{
    static const struct job_request unknown = { .gpus = JOB_FACT_UNKNOWN };
    const struct job_request *request =
        queue->request_count ? &queue->requests[job->request] : &unknown;
    uint64_t cpus = request->cpus ? request->cpus : job->cpus;
    bool is_limited = job->time_limit && job->time_limit < TIME_LIMIT_NO_VALUE;
    bool waits = !job->held && job->waits_since && job->waits_since <= queue->options.now;
    return (struct job_facts){
        .cpus = cpus && cpus <= INT64_MAX ? (int64_t)cpus : JOB_FACT_UNKNOWN,
        .gpus = request->gpus,
        .limit_s = is_limited ? (int64_t)job->time_limit * 60 : JOB_FACT_UNKNOWN,
        .eligible_at = waits ? (int64_t)job->waits_since : JOB_FACT_UNKNOWN,
    };
}

void queue_add_job(struct queue *queue, const struct priority_job *job, const uint64_t *counts)
{
    struct priority_job *added = memory_append(&queue->jobs, &queue->count);
    *added = *job;
    added->counts = number_of_counts(queue, counts);
}

static int queue_by_key(const void *a, const void *b)
{
    const struct priority_job *one = a, *other = b;
    return (one->key > other->key) - (one->key < other->key);
}

void queue_sort(struct queue *queue)
{
    if (queue->count)
        qsort(queue->jobs, queue->count, sizeof *queue->jobs, queue_by_key);
}

/* The rows of one job. */
struct row_list {
    struct queue_row *rows;
    uint32_t count;
};

static struct reason_case queue_reason_case(const struct queue *queue, const struct queue_row *row)
{
    static const struct job_request nothing;
    const uint32_t *starts = queue->partition_lists.starts;
    return (struct reason_case){
        .job = row->job,
        .request = queue->request_count ? &queue->requests[row->job->request] : &nothing,
        .partition = row->partition,
        .qos = row->qos,
        .has_partitions = starts[row->job->partitions + 1] - starts[row->job->partitions] > 1,
    };
}

void queue_row_add_detail(const struct queue *queue, const struct queue_row *row, struct text *text)
{
    const struct reason_case given = queue_reason_case(queue, row);
    reason_of(&given, text);
}

static void queue_add_row(const struct queue *queue, struct row_list *list,
                          const struct queue_row *row)
{
    struct queue_row *added = memory_append(&list->rows, &list->count);
    *added = *row;
    priority_compute(&queue->options, added->job, added->counts, added->partition, added->qos,
                     &added->priority);
    const struct reason_case given = queue_reason_case(queue, added);
    added->reason = reason_of(&given, NULL);
    if (queue->places && !*added->reason)
        added->place = places_find(queue->places, (size_t)(added->job - queue->jobs),
                                   added->partition->pool_number);
}

static bool queue_row_is_better(const struct queue_row *row, const struct queue_row *other)
{
    if (!*row->reason != !*other->reason)
        return !*row->reason;
    if (row->partition->tier != other->partition->tier)
        return row->partition->tier > other->partition->tier;
    return row->priority.norm > other->priority.norm;
}

static void queue_rows_of(const struct queue *queue, const struct priority_job *job,
                          struct row_list *list)
{
    const struct queue_lists *partitions = &queue->partition_lists, *qos = &queue->qos_lists;
    const uint64_t *counts = queue->counts + job->counts * queue->options.tres_count;
    list->count = 0;
    for (uint32_t i = partitions->starts[job->partitions];
         i < partitions->starts[job->partitions + 1]; i++)
        for (uint32_t j = qos->starts[job->qos]; j < qos->starts[job->qos + 1]; j++)
            queue_add_row(
                queue, list,
                &(struct queue_row){ .job = job,
                                     .counts = counts,
                                     .partition = &queue->partitions[partitions->places[i]],
                                     .qos = &queue->qos[qos->places[j]],
                                     .tres = (uint64_t)job->counts << 32 | partitions->places[i] });
    uint32_t best = 0;
    for (uint32_t i = 1; i < list->count; i++)
        if (queue_row_is_better(&list->rows[i], &list->rows[best]))
            best = i;
    list->rows[best].best = true;
}

int queue_each(const struct queue *queue,
               int (*visit)(void *context, const struct queue_row *row, struct error *err),
               void *context, struct error *err)
{
    struct row_list list = { 0 };
    int result = 0;
    for (size_t at = 0; !result && at < queue->count; at++) {
        queue_rows_of(queue, &queue->jobs[at], &list);
        for (uint32_t i = 0; !result && i < list.count; i++)
            result = visit(context, &list.rows[i], err);
    }
    free(list.rows);
    return result ? -1 : 0;
}

static int queue_add_to_places(void *context, const struct queue_row *row, struct error *err)
{
    const struct queue *queue = context;
    const struct pool_job added = { row->partition->pool_number, row->priority.value,
                                    row->partition->tier, 0 };
    (void)err;
    if (!*row->reason && !row->job->started)
        places_add(queue->places, (size_t)(row->job - queue->jobs), &added);
    return 0;
}

void queue_rank(struct queue *queue)
{
    struct error ignored;
    places_destroy(queue->places);
    queue->places = places_create(queue->count);
    queue_each(queue, queue_add_to_places, queue, &ignored);
    places_rank(queue->places);
}
