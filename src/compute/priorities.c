/* SPDX-License-Identifier: MIT */
#include "compute/priorities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "compute/computation.h"
#include "compute/queue_findings.h"
#include "compute/siblings.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
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

/* The ids of two TRES, which are the same in every slurmdbd. */
enum { TRES_MEMORY = 2, TRES_NODE = 4 };

/* A pending job whose age depends on tasks of the same array, which are read later. */
struct late {
    struct queued_job row; /* the job, without its strings */
    size_t place;          /* index in the queue's jobs, which are not sorted yet */
};

/* The state of reading the queue. */
struct compute_priority_reader {
    struct queue *queue;
    const struct settings *settings;
    struct cluster_facts facts;
    uint64_t *counts; /* counts of the weighted TRES in the current job */
    uint64_t asked;   /* the time as of which the queue is read */
    struct siblings siblings;
    struct late *late;
    size_t late_count;
};

static uint64_t compute_priority_count_of(const char *tres, size_t length, uint64_t id)
{
    uint64_t count;
    return tres_count(tres, length, id, &count) == TRES_FOUND ? count : 0;
}

static uint64_t registered(const struct compute_priority_reader *reader, uint64_t id)
{
    return compute_priority_count_of(reader->facts.registered, strlen(reader->facts.registered),
                                     id);
}

static uint32_t compute_priority_narrowed(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/*
 * Splits `NAME<sign>VALUE` at the last sign, and strips spaces and tabs around the sign.  Returns
 * the value, or NULL if there is no sign.
 */
static char *part(char *item, char sign, char **name)
{
    char *value = strrchr(item, sign);
    if (!value)
        return NULL;
    char *end = value;
    *value++ = '\0';
    while (end > item && strchr(" \t", end[-1]))
        *--end = '\0';
    *name = item + strspn(item, " \t");
    return value + strspn(value, " \t");
}

static const struct tres_fact *tres_named(const struct cluster_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->tres_count; i++)
        if (!strcasecmp(facts->tres[i].name, name))
            return &facts->tres[i];
    return NULL;
}

/* Returns the entry of a TRES in the list, which is sorted by id.  Adds it if it is missing. */
static struct priority_tres *compute_priority_place_of(struct priority_tres *tres, size_t *count,
                                                       uint64_t id)
{
    size_t at = *count;
    while (at && tres[at - 1].id > id)
        at--;
    if (at && tres[at - 1].id == id)
        return &tres[at - 1];
    memmove(tres + at + 1, tres + at, (*count - at) * sizeof *tres);
    ++*count;
    return &tres[at];
}

static int compute_priority_refuse(const char *key, const char *value, struct error *err)
{
    return fail(err, ERROR_SETTINGS, "[priority] %s = '%s' is invalid; see fairmill.conf(5)", key,
                value);
}

/*
 * Parses a list like `CPU=100,Mem=50` into weights in ascending order of id.  If a TRES is listed
 * twice, the last weight is used.  Adds names that are not in the database to `unknown`.
 */
static bool list_tres(const struct compute_priority_reader *reader, const char *value,
                      struct priority_tres *tres, size_t *count, struct text *unknown)
{
    bool good = true;
    for (char *item, *name; good && (item = list_next(&value)); free(item)) {
        double weight;
        char *text = part(item, '=', &name);
        good = text && tres_weight_of(name, text, &weight);
        const struct tres_fact *fact = good ? tres_named(&reader->facts, name) : NULL;
        if (fact)
            *compute_priority_place_of(tres, count, fact->id) = (struct priority_tres){
                .name = arena_copy(reader->queue->arena, fact->name, strlen(fact->name)),
                .id = fact->id,
                .weight = weight,
                .total = registered(reader, fact->id),
            };
        else if (good)
            text_format(unknown, "%s'%s'", unknown->length ? ", " : "", name);
    }
    return good;
}

static int read_tres_weights(struct compute_priority_reader *reader, struct findings *findings,
                             struct error *err)
{
    struct queue *queue = reader->queue;
    const char *value = reader->settings->weight_tres;
    struct priority_tres *tres =
        arena_take(queue->arena, (reader->facts.tres_count + 1) * sizeof *tres);
    struct text unknown = { 0 };
    size_t count = 0;
    bool good = list_tres(reader, value, tres, &count, &unknown);
    if (unknown.length)
        findings_add(findings, FINDING_PRIORITY_TRES_UNKNOWN, 0, "%s", unknown.bytes);
    text_free(&unknown);
    queue->options.tres = tres;
    queue->options.tres_count = count;
    reader->counts = arena_take(queue->arena, (count + 1) * sizeof *reader->counts);
    return good ? 0 : compute_priority_refuse("weight_tres", value, err);
}

static uint64_t cpus_of(const struct compute_priority_reader *reader,
                        const struct slurm_totals *totals)
{
    return totals->cpus - (reader->queue->options.leaves_spec_cpus ? totals->spec_cpus : 0);
}

/*
 * Returns the amount of a TRES in the nodes of a partition.  For a TRES that does not belong to
 * nodes, such as a license, returns the cluster's amount.
 */
static uint64_t total_in(const struct compute_priority_reader *reader,
                         const struct slurm_partition *partition, const struct priority_tres *tres)
{
    const struct slurm_totals *totals = &partition->totals;
    if (tres->id == TRES_CPU || tres->id == TRES_BILLING)
        return cpus_of(reader, totals);
    if (tres->id == TRES_MEMORY)
        return totals->memory;
    if (tres->id == TRES_NODE)
        return totals->nodes;
    for (size_t i = 0; i < totals->gres_count; i++)
        if (!strcasecmp(totals->gres[i].name, tres->name))
            return totals->gres[i].count;
    return strncasecmp(tres->name, "gres/", 5) ? tres->total : 0;
}

/*
 * Returns true if MAX_TRES or MAX_TRES_GRES includes this TRES in a maximum.  The billing is the
 * highest of these values plus the sum of the values of all other TRES.
 */
static bool is_in_maximum(unsigned flags, const struct priority_tres *tres)
{
    if (tres->id == TRES_CPU || tres->id == TRES_MEMORY || tres->id == TRES_NODE)
        return flags & (PRIORITY_MAX_TRES | PRIORITY_MAX_TRES_GRES);
    return flags & PRIORITY_MAX_TRES && !(flags & PRIORITY_MAX_TRES_GRES) &&
           !strncasecmp(tres->name, "gres/", 5);
}

/*
 * Sets `*billing` to the billing of all of a partition's TRES, truncated to an integer as in
 * scontrol.  Without TRESBillingWeights, the billing is the partition's number of CPUs.
 */
static int billing_in(const struct compute_priority_reader *reader,
                      const struct slurm_partition *partition, uint64_t *billing, struct error *err)
{
    const char *weights = partition->billing_weights;
    struct priority_tres *tres = memory_zeroed(reader->facts.tres_count + 1, sizeof *tres);
    struct text unknown = { 0 };
    size_t count = 0;
    double sum = 0, highest = 0;
    bool good = !weights || list_tres(reader, weights, tres, &count, &unknown);
    for (size_t i = 0; i < count; i++) {
        double part = (double)total_in(reader, partition, &tres[i]) * tres[i].weight;
        if (tres[i].id == TRES_BILLING)
            continue;
        if (!is_in_maximum(reader->settings->priority_flags, &tres[i]))
            sum += part;
        else if (part > highest)
            highest = part;
    }
    sum += highest;
    text_free(&unknown);
    free(tres);
    if (!good)
        return fail(err, ERROR_SETTINGS,
                    "'%s', line %u: TRESBillingWeights = '%s' is invalid; see slurm.conf(5)",
                    partition->place.file, partition->place.line, weights);
    *billing = cpus_of(reader, &partition->totals);
    if (weights)
        *billing = sum > 0 && sum < 0x1p63 ? (uint64_t)sum : 0;
    return 0;
}

/*
 * Adds a partition with its factor and its data from slurm.conf; `known` is NULL if slurm.conf
 * lacks it.
 */
static int add_partition(const struct compute_priority_reader *reader,
                         const struct slurm_partition *known, const char *name, double factor,
                         struct error *err)
{
    const struct priority_options *options = &reader->queue->options;
    struct priority_partition partition = {
        .name = name,
        .factor = factor,
        .max_minutes = known ? known->max_time : PRIORITY_NO_LIMIT,
        .max_nodes = known && known->totals.nodes ? known->totals.nodes : PRIORITY_NO_LIMIT,
    };
    uint64_t *totals = memory_zeroed(options->tres_count + 1, sizeof *totals);
    int result = 0;
    for (size_t i = 0; !result && known && i < options->tres_count; i++) {
        totals[i] = total_in(reader, known, &options->tres[i]);
        if (options->tres[i].id == TRES_BILLING)
            result = billing_in(reader, known, &totals[i], err);
    }
    partition.tres_totals = known ? totals : NULL;
    if (!result)
        queue_add_partition(reader->queue, &partition);
    free(totals);
    return result;
}

/*
 * Parses a list like `GPU:100, debug:10`, and adds these partitions with their data from
 * slurm.conf.  Sets added[i] for each partition in the list, where i is the partition's index in
 * slurm.conf.
 */
static int take_given_factors(const struct compute_priority_reader *reader,
                              const struct names *partitions, bool *added, struct error *err)
{
    const char *value = reader->settings->partition_factors, *at = value;
    int result = 0;
    for (char *item, *name; !result && (item = list_next(&at)); free(item)) {
        double factor;
        char *text = part(item, ':', &name);
        if (!text || !number_real(text, &factor)) {
            result = compute_priority_refuse("partition_factors", value, err);
            continue;
        }
        uint32_t place = names_find(partitions, name, strlen(name));
        bool known = place != INDEX_NONE;
        result = add_partition(reader, known ? &reader->settings->slurm->partitions[place] : NULL,
                               name, factor, err);
        if (known)
            added[place] = true;
    }
    return result;
}

/*
 * Adds all partitions.  If partition_factors is set but does not name a partition, the factor of
 * the partition depends on `conformance`.  With `slurmctld` it is 1, as in Slurm.  Otherwise it is
 * 0, according to the document of Slurm 2.0.  If slurm.conf is read but does not contain a
 * partition, the factor is 0, as in Slurm.
 */
static int take_partitions(struct compute_priority_reader *reader, struct error *err)
{
    const struct settings *settings = reader->settings;
    const struct slurm_conf *conf = settings->slurm;
    size_t count = conf ? conf->partition_count : 0;
    double unnamed = settings->conformance == CONFORMANCE_SLURMCTLD ? 1 : 0;
    struct names *partitions = names_create();
    bool *added = memory_zeroed(count + 1, sizeof *added);
    for (size_t i = 0; i < count; i++)
        names_add(partitions, conf->partitions[i].name, strlen(conf->partitions[i].name));
    int result = take_given_factors(reader, partitions, added, err);
    for (size_t i = 0; !result && i < count; i++) {
        const struct slurm_partition *each = &conf->partitions[i];
        double factor = settings->partition_factors ? unnamed : (double)each->job_factor;
        if (!added[i])
            result = add_partition(reader, each, each->name, factor, err);
    }
    names_destroy(partitions);
    free(added);
    reader->queue->unnamed_factor = conf ? 0 : unnamed;
    return result;
}

/* Parses a list like `high:1.0, low:0.25`. */
static int take_qos_factors(const struct compute_priority_reader *reader, struct error *err)
{
    const char *value = reader->settings->qos_priority_factors, *at = value;
    int result = 0;
    for (char *item, *name; !result && (item = list_next(&at)); free(item)) {
        double factor;
        char *text = part(item, ':', &name);
        if (text && number_real(text, &factor))
            queue_give_qos(reader->queue, name, factor);
        else
            result = compute_priority_refuse("qos_factors", value, err);
    }
    return result;
}

static void pass_over(void *context, const char *name, size_t length)
{
    (void)context;
    (void)name;
    (void)length;
}

/*
 * Returns the number of nodes in the cluster.  It is the registered count, or else the number of
 * registered names, or else the number of nodes in slurm.conf.
 */
static uint64_t count_nodes(const struct compute_priority_reader *reader)
{
    uint64_t nodes = registered(reader, TRES_NODE);
    size_t left = SLURM_NODES_AT_MOST;
    struct slurm_hosts hosts = { pass_over, NULL, &left };
    if (nodes)
        return nodes;
    if (*reader->facts.nodes && !slurm_hosts_expand(&hosts, reader->facts.nodes))
        return SLURM_NODES_AT_MOST - left;
    return reader->settings->slurm ? reader->settings->slurm->totals.nodes : 0;
}

static void take_options(struct compute_priority_reader *reader, uint64_t now)
{
    const struct settings *settings = reader->settings;
    unsigned flags = settings->priority_flags;
    struct priority_options *options = &reader->queue->options;
    options->conformance = settings->conformance;
    options->now = now;
    options->max_age = settings->max_age_s;
    options->weights = (struct priority_weights){
        .age = (double)settings->weight_age,
        .association = (double)settings->weight_assoc,
        .fairshare = (double)settings->weight_fairshare,
        .job_size = (double)settings->weight_job_size,
        .partition = (double)settings->weight_partition,
        .qos = (double)settings->weight_qos,
    };
    options->favor_small = settings->favor_small;
    options->relative_to_time = flags & PRIORITY_SMALL_RELATIVE_TO_TIME;
    options->accrue_always = flags & PRIORITY_ACCRUE_ALWAYS;
    options->no_normal_association = flags & PRIORITY_NO_NORMAL_ASSOC;
    options->no_normal_partition = flags & PRIORITY_NO_NORMAL_PART;
    options->no_normal_qos = flags & PRIORITY_NO_NORMAL_QOS;
    options->no_normal_tres = flags & PRIORITY_NO_NORMAL_TRES;
    options->nodes = count_nodes(reader);
    options->cpus = registered(reader, TRES_CPU);
    if (!options->cpus && settings->slurm)
        options->cpus = cpus_of(reader, &settings->slurm->totals);
}

static int take_facts(struct compute_priority_reader *reader, uint64_t now,
                      struct findings *findings, struct error *err)
{
    take_options(reader, now);
    for (size_t i = 0; i < reader->facts.qos_count; i++)
        queue_add_qos(reader->queue, reader->facts.qos[i].id, reader->facts.qos[i].name,
                      reader->facts.qos[i].priority);
    if (read_tres_weights(reader, findings, err) || take_partitions(reader, err) ||
        take_qos_factors(reader, err))
        return -1;
    return 0;
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
    queue->jobs[place].ages_since = since;
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
    uint64_t oldest = reader->asked, max_age = reader->settings->max_age_s;
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
        .started = reader->settings->priority_flags & PRIORITY_CALCULATE_RUNNING,
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
    struct compute_priority_reader reader = { .queue = queue,
                                              .settings = settings,
                                              .asked = asked };
    if (source->layout->queue->read_facts(source, &reader.facts, err))
        return -1;
    int result = take_facts(&reader, now, findings, err);
    if (!result)
        result = compute_priority_read_accrue_limits(&reader, source, err);
    if (!result)
        result = compute_priority_read_jobs(&reader, source, err);
    if (!result)
        result = read_waited(&reader, source, err);
    cluster_facts_free(&reader.facts);
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
}
