/* SPDX-License-Identifier: MIT */
#include "compute/priorities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "compute/computation.h"
#include "compute/priority_inputs.h"
#include "compute/queue_findings.h"
#include "compute/siblings.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
#include "core/priority/arrays.h"
#include "core/priority/queue.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_model.h"
#include "settings/slurm/slurm_settings.h"
#include "settings/slurm/slurm_value.h"
#include "settings/values.h"
#include "source/reading.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* A pending job whose age depends on tasks of the same array, which are read later. */
struct late {
    struct queued_job row; /* the job, without its strings */
    size_t place;          /* index in the queue's jobs, which are not sorted yet */
};

/* The state of reading the queue. */
struct compute_priority_reader {
    struct priority_inputs inputs;
    struct queue *queue; /* the same as in `inputs` */
    uint64_t *counts;    /* counts of the weighted TRES in the current job */
    uint64_t asked;      /* the time as of which the queue is read */
    struct siblings siblings;
    struct late *late;
    size_t late_count;
};

static uint32_t compute_priority_narrowed(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* Records for the accrue limits that a job is or was pending. */
static void add_wait(const struct compute_priority_reader *reader, const struct queued_job *row,
                     uint64_t since)
{
    const struct accrual_wait wait = {
        .key = row->key,
        .id_job = row->id_job,
        .array = row->array,
        .submitted = row->time_submit,
        .since = since,
        .until = row->time_until ? row->time_until : UINT64_MAX,
        .qos = row->qos,
        .association = compute_priority_narrowed(row->association),
        .is_rest = row->array_waits,
    };
    if (since && since <= reader->asked && !row->held &&
        accrual_may_bound(reader->queue->accrual, row->qos))
        accrual_add(reader->queue->accrual, &wait);
}

/*
 * A job is reported as lost if it has been eligible for half a year longer than its time limit.  No
 * job waits that long in a real queue, while the row of a lost job remains pending forever.  Held
 * and dependent jobs are not eligible, and may be pending for any time.
 */
#define LOST_AFTER_S (UINT64_C(180) * 86400)
static bool is_lost(const struct compute_priority_reader *reader, const struct queued_job *row,
                    uint64_t since)
{
    uint64_t now = reader->queue->options.now;
    uint64_t limit = row->time_limit < TIME_LIMIT_NONE ? row->time_limit * 60 : 0;
    return !row->started && !row->held && since && since < now &&
           now - since > LOST_AFTER_S + limit;
}

/* Sets `ages_since` and `lost` of a job, and records its wait for the accrue limits.  The strings
 * of `row` may be invalid by now. */
static void take_age(const struct compute_priority_reader *reader, const struct queued_job *row,
                     size_t place)
{
    struct queue *queue = reader->queue;
    uint64_t since = siblings_age_since(&reader->siblings, row);
    queue->jobs[place].ages_since = queue->jobs[place].waits_since = since;
    queue->jobs[place].lost = is_lost(reader, row, since);
    if (queue->accrual && !row->started && !queue->jobs[place].lost)
        add_wait(reader, row, since);
}

static void add_late(struct compute_priority_reader *reader, const struct queued_job *row,
                     size_t place)
{
    static const struct bytes none;
    struct late *late = memory_append(&reader->late, &reader->late_count);
    *late = (struct late){ *row, place };
    late->row.account = late->row.partitions = late->row.qos_asked = none;
    late->row.tres = late->row.tres_asked = late->row.tres_sized = none;
}

/*
 * Returns the number of nodes for the job size factor.  slurmctld uses the requested number of
 * nodes, even if the job runs on a different number.  For CPUs it uses the allocated number
 * (set_priority_factors() in priority_multifactor.c).  A resize changes neither number.
 */
static uint64_t nodes_of(const struct queued_job *row)
{
    uint64_t asked =
        compute_priority_count_of(row->tres_asked.bytes, row->tres_asked.length, TRES_NODE);
    return asked ? asked
                 : compute_priority_count_of(row->tres_sized.bytes, row->tres_sized.length,
                                             TRES_NODE);
}

/* Returns the number of GPUs in a list of TRES: gres/gpu or, without it, the sum of its types. */
static int64_t compute_priority_gpus(const struct cluster_facts *facts, const struct bytes *asked)
{
    static const char any[] = "gres/gpu", typed[] = "gres/gpu:";
    if (!asked->length || !facts->tres_count)
        return JOB_FACT_UNKNOWN;
    uint64_t all = 0, sum = 0;
    for (size_t i = 0; i < facts->tres_count; i++) {
        const struct tres_fact *tres = &facts->tres[i];
        bool is_any = !strcasecmp(tres->name, any);
        if (!is_any && strncasecmp(tres->name, typed, sizeof typed - 1))
            continue;
        *(is_any ? &all : &sum) += compute_priority_count_of(asked->bytes, asked->length, tres->id);
    }
    uint64_t count = all ? all : sum;
    return count <= INT64_MAX ? (int64_t)count : JOB_FACT_UNKNOWN;
}

/* Returns the number of the resources that a job requests, `id=count,...`. */
static uint32_t compute_priority_request(struct compute_priority_reader *reader,
                                         const struct bytes *asked)
{
    const struct cluster_facts *facts = &reader->inputs.facts;
    const char *bytes = asked->bytes;
    size_t length = asked->length;
    struct job_request *request;
    uint32_t number = queue_request(reader->queue, bytes, length, &request);
    if (!request)
        return number;
    struct gres_count *gres =
        arena_take(reader->queue->arena, (facts->tres_count + 1) * sizeof *gres);
    *request = (struct job_request){
        .cpus = compute_priority_count_of(bytes, length, TRES_CPU),
        .memory = compute_priority_count_of(bytes, length, TRES_MEMORY),
        .nodes = compute_priority_count_of(bytes, length, TRES_NODE),
        .gpus = compute_priority_gpus(facts, asked),
        .gres = gres,
    };
    for (size_t i = 0; i < facts->tres_count; i++) {
        const struct tres_fact *tres = &facts->tres[i];
        uint64_t count = strncasecmp(tres->name, "gres/", 5)
                             ? 0
                             : compute_priority_count_of(bytes, length, tres->id);
        if (count)
            gres[request->gres_count++] = (struct gres_count){ tres->id, NULL, count };
    }
    return number;
}

/* Returns the reason why a job does not start in any partition, or "". */
static const char *compute_priority_blocked(const struct compute_priority_reader *reader,
                                            const struct queued_job *row)
{
    if (row->started || row->held)
        return "";
    if (!row->time_eligible)
        return PRIORITY_JOB_DEPENDENCY;
    if (row->array && row->time_eligible == ARRAY_AT_LIMIT)
        return PRIORITY_JOB_ARRAY_LIMIT;
    return row->time_eligible > reader->asked ? PRIORITY_JOB_BEGIN : "";
}

static void compute_priority_add_job(struct compute_priority_reader *reader,
                                     const struct queued_job *row)
{
    struct queue *queue = reader->queue;
    uint64_t cpus =
        compute_priority_count_of(row->tres_sized.bytes, row->tres_sized.length, TRES_CPU);
    struct priority_job job = {
        .key = row->key,
        .submitted = row->time_submit,
        .id_job = compute_priority_narrowed(row->id_job),
        .association = compute_priority_narrowed(row->association),
        .account = names_add(queue->names, row->account.bytes, row->account.length),
        .user = names_add(queue->names, "", 0),
        .partitions = queue_partitions(queue, row->partitions.bytes, row->partitions.length),
        .qos = queue_qos(queue, row->qos_asked.bytes, row->qos_asked.length, row->qos),
        .time_limit = compute_priority_narrowed(row->time_limit),
        .nodes = compute_priority_narrowed(nodes_of(row)),
        .cpus = compute_priority_narrowed(cpus ? cpus : row->cpus),
        .association_priority = PRIORITY_NONE,
        .held = row->held,
        .started = row->started,
        .blocked = compute_priority_blocked(reader, row),
        .eligible = row->time_eligible,
        .request = compute_priority_request(reader, &row->tres_asked),
        .id_array = compute_priority_narrowed(row->array),
        .array_task = compute_priority_narrowed(row->array_task),
        .array_tasks = names_add(queue->names, row->array_tasks.bytes, row->array_tasks.length),
        .array_limit = compute_priority_narrowed(row->array_limit),
        .id_het = compute_priority_narrowed(row->het_job),
        .het_offset = compute_priority_narrowed(row->het_offset),
        .fairshare = NAN,
    };
    for (size_t i = 0; i < queue->options.tres_count; i++)
        reader->counts[i] =
            compute_priority_count_of(row->tres.bytes, row->tres.length, queue->options.tres[i].id);
    queue_add_job(queue, &job, reader->counts);
    if (siblings_note(&reader->siblings, row))
        add_late(reader, row, queue->count - 1);
    else
        take_age(reader, row, queue->count - 1);
}

/* Slurm applies accrue limits only if it enforces limits, and never with ACCRUE_ALWAYS. */
static bool has_accrue_limits(const struct settings *settings)
{
    return settings->conformance == CONFORMANCE_SLURMCTLD && settings->slurm &&
           slurm_enforces_limits(settings->slurm) &&
           !(settings->priority_flags & PRIORITY_ACCRUE_ALWAYS);
}

static int compute_priority_read_accrue_limits(struct compute_priority_reader *reader,
                                               const struct source *source, struct error *err)
{
    if (!has_accrue_limits(source->settings))
        return 0;
    struct accrual *accrual = reader->queue->accrual = accrual_create();
    if (source->layout->queue->read_accrue_limits(source, accrual, err))
        return -1;
    if (accrual->qos_count || accrual->association_count)
        return 0;
    accrual_destroy(accrual);
    reader->queue->accrual = NULL;
    return 0;
}

/*
 * Returns the earliest time from which a job with accrue limits has been waiting.  The result is at
 * most max_age ago, because all ages above max_age give the same factor.
 */
static uint64_t oldest_wait(const struct compute_priority_reader *reader)
{
    const struct accrual *accrual = reader->queue->accrual;
    uint64_t oldest = reader->asked, max_age = reader->inputs.settings->max_age_s;
    for (size_t i = 0; i < accrual->count; i++)
        if (accrual->waits[i].since < oldest)
            oldest = accrual->waits[i].since;
    return max_age < reader->asked && oldest < reader->asked - max_age ? reader->asked - max_age
                                                                       : oldest;
}

/*
 * Records jobs that are no longer pending.  They occupied accrue slots, so other jobs had to wait
 * for a slot.
 */
static int read_waited(const struct compute_priority_reader *reader, const struct source *source,
                       struct error *err)
{
    if (!reader->queue->accrual || !reader->queue->accrual->count)
        return 0;
    struct queued_job job;
    const struct queue_range range = { .time = reader->asked, .waited_since = oldest_wait(reader) };
    struct queue_reading *reading = source->layout->queue->jobs(source, &range);
    int got;
    while ((got = queue_reading_next(reading, &job, err)) > 0)
        add_wait(reader, &job, siblings_age_since(&reader->siblings, &job));
    queue_reading_end(reading);
    return got;
}

/* Reads the pending jobs and, if they have priorities, also the running ones. */
static int compute_priority_read_jobs(struct compute_priority_reader *reader,
                                      const struct source *source, struct error *err)
{
    const struct queue_range range = {
        .time = reader->asked,
        .started = reader->inputs.settings->priority_flags & PRIORITY_CALCULATE_RUNNING,
    };
    struct queue_reading *reading = source->layout->queue->jobs(source, &range);
    struct queued_job job;
    int got;
    while ((got = queue_reading_next(reading, &job, err)) > 0)
        compute_priority_add_job(reader, &job);
    queue_reading_end(reading);
    if (!got)
        got = siblings_read(&reader->siblings, source, reader->asked, err);
    for (size_t i = 0; !got && i < reader->late_count; i++)
        take_age(reader, &reader->late[i].row, reader->late[i].place);
    return got;
}

int priorities_read(struct queue *queue, const struct source *source, uint64_t asked, uint64_t now,
                    struct findings *findings, struct error *err)
{
    const struct settings *settings = source->settings;
    struct compute_priority_reader reader = { .inputs = { queue, settings, { 0 } },
                                              .queue = queue,
                                              .asked = asked };
    if (source->layout->queue->read_facts(source, &reader.inputs.facts, err))
        return -1;
    int result = priority_inputs_take(&reader.inputs, now, findings, err);
    reader.counts =
        arena_take(queue->arena, (queue->options.tres_count + 1) * sizeof *reader.counts);
    if (!result)
        result = compute_priority_read_accrue_limits(&reader, source, err);
    if (!result)
        result = compute_priority_read_jobs(&reader, source, err);
    if (!result)
        result = read_waited(&reader, source, err);
    cluster_facts_free(&reader.inputs.facts);
    siblings_free(&reader.siblings);
    free(reader.late);
    queue_sort(queue);
    if (!result)
        queue_find_lost(queue, findings);
    if (!result && settings->slurm && settings->slurm->partition_count)
        queue_find_unknown_partitions(queue, settings->slurm, findings);
    return result;
}

/*
 * Returns priorities indexed by node: an association's own priority, or the priority of its nearest
 * ancestor that has one.  Sets `*highest` to the highest priority.  The caller frees the array.
 * Returns NULL if no association has a priority.
 */
static uint32_t *inherited_priorities(const struct accounting *accounting, const struct tree *tree,
                                      uint32_t *highest)
{
    *highest = 0;
    if (!accounting->priority_count)
        return NULL;
    uint32_t *priorities = memory_zeroed(tree->count, sizeof *priorities);
    memset(priorities, 0xff, tree->count * sizeof *priorities);
    for (size_t i = 0; i < accounting->priority_count; i++) {
        const struct association_priority *each = &accounting->priorities[i];
        uint32_t place = tree_place(tree, each->id);
        if (place == NO_NODE || tree->nodes[place].id != each->id)
            continue;
        priorities[place] = each->priority;
        if (each->priority > *highest)
            *highest = each->priority;
    }
    for (uint32_t i = 1; i < tree->count; i++)
        if (priorities[i] == PRIORITY_NONE)
            priorities[i] = priorities[tree->nodes[i].parent];
    return priorities;
}

static uint32_t compute_priority_name_of(struct queue *queue, const struct accounting *accounting,
                                         uint32_t number)
{
    const char *name = names_text(accounting->names, number);
    return names_add(queue->names, name, strlen(name));
}

/* Sets `ages_since` of each job that accrue limits may delay.  The jobs' waits are simulated in
 * accrual_replay(). */
static void bound_ages(struct queue *queue, const struct settings *settings,
                       const struct accounting *accounting, const struct tree *tree)
{
    const struct release *release = release_of(settings, accounting);
    const struct accrual_rules rules = {
        .takes_least = release_follows(release, RULE_LEAST_ACCRUE_LIMIT),
        .hides_tasks = release_follows(release, RULE_SPLIT_TASKS_HIDDEN),
    };
    accrual_replay(queue->accrual, tree, rules);
    for (size_t i = 0; i < queue->count; i++) {
        const uint64_t *since = accrual_since(queue->accrual, queue->jobs[i].key);
        if (since)
            queue->jobs[i].ages_since = *since;
    }
}

void priorities_complete(struct queue *queue, const struct settings *settings,
                         const struct accounting *accounting, const struct tree *tree,
                         double (*fairshare)(const void *context, uint32_t node),
                         const void *context)
{
    uint32_t *priorities =
        inherited_priorities(accounting, tree, &queue->options.highest_association);
    for (size_t i = 0; i < queue->count; i++) {
        struct priority_job *job = &queue->jobs[i];
        uint32_t place = tree_place(tree, job->association);
        /* The queue may have been completed with a different tree before. */
        job->fairshare = NAN;
        job->association_priority = PRIORITY_NONE;
        /* A deleted association has a node too, but no fairshare. */
        if (place == NO_NODE || tree->nodes[place].id != job->association)
            continue;
        job->account = compute_priority_name_of(queue, accounting, tree->nodes[place].account);
        job->user = compute_priority_name_of(queue, accounting, tree->nodes[place].user);
        job->fairshare = fairshare(context, place);
        if (priorities)
            job->association_priority = priorities[place];
    }
    free(priorities);
    if (queue->accrual)
        bound_ages(queue, settings, accounting, tree);
    queue_rank(queue);
}
