/* SPDX-License-Identifier: MIT */
#include "compute/priority_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/finding.h"
#include "core/priority/queue.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_model.h"
#include "settings/slurm/slurm_value.h"
#include "settings/values.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

uint64_t compute_priority_count_of(const char *tres, size_t length, uint64_t id)
{
    uint64_t count;
    return tres_count(tres, length, id, &count) == TRES_FOUND ? count : 0;
}

static uint64_t registered(const struct priority_inputs *inputs, uint64_t id)
{
    return compute_priority_count_of(inputs->facts.registered, strlen(inputs->facts.registered),
                                     id);
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
static bool list_tres(const struct priority_inputs *inputs, const char *value,
                      struct priority_tres *tres, size_t *count, struct text *unknown)
{
    bool good = true;
    for (char *item, *name; good && (item = list_next(&value)); free(item)) {
        double weight;
        char *text = part(item, '=', &name);
        good = text && tres_weight_of(name, text, &weight);
        const struct tres_fact *fact = good ? tres_named(&inputs->facts, name) : NULL;
        if (fact)
            *compute_priority_place_of(tres, count, fact->id) = (struct priority_tres){
                .name = arena_copy(inputs->queue->arena, fact->name, strlen(fact->name)),
                .id = fact->id,
                .weight = weight,
                .total = registered(inputs, fact->id),
            };
        else if (good)
            text_format(unknown, "%s'%s'", unknown->length ? ", " : "", name);
    }
    return good;
}

static int read_tres_weights(struct priority_inputs *inputs, struct findings *findings,
                             struct error *err)
{
    struct queue *queue = inputs->queue;
    const char *value = inputs->settings->weight_tres;
    struct priority_tres *tres =
        arena_take(queue->arena, (inputs->facts.tres_count + 1) * sizeof *tres);
    struct text unknown = { 0 };
    size_t count = 0;
    bool good = list_tres(inputs, value, tres, &count, &unknown);
    if (unknown.length)
        findings_add(findings, FINDING_PRIORITY_TRES_UNKNOWN, 0, "%s", unknown.bytes);
    text_free(&unknown);
    queue->options.tres = tres;
    queue->options.tres_count = count;
    return good ? 0 : compute_priority_refuse("weight_tres", value, err);
}

static uint64_t cpus_of(const struct priority_inputs *inputs, const struct slurm_totals *totals)
{
    return totals->cpus - (inputs->queue->options.leaves_spec_cpus ? totals->spec_cpus : 0);
}

/*
 * Returns the amount of a TRES in the nodes of a partition.  For a TRES that does not belong to
 * nodes, such as a license, returns the cluster's amount.
 */
static uint64_t total_in(const struct priority_inputs *inputs,
                         const struct slurm_partition *partition, const struct priority_tres *tres)
{
    const struct slurm_totals *totals = &partition->totals;
    if (tres->id == TRES_CPU || tres->id == TRES_BILLING)
        return cpus_of(inputs, totals);
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
static int billing_in(const struct priority_inputs *inputs, const struct slurm_partition *partition,
                      uint64_t *billing, struct error *err)
{
    const char *weights = partition->billing_weights;
    struct priority_tres *tres = memory_zeroed(inputs->facts.tres_count + 1, sizeof *tres);
    struct text unknown = { 0 };
    size_t count = 0;
    double sum = 0, highest = 0;
    bool good = !weights || list_tres(inputs, weights, tres, &count, &unknown);
    for (size_t i = 0; i < count; i++) {
        double part = (double)total_in(inputs, partition, &tres[i]) * tres[i].weight;
        if (tres[i].id == TRES_BILLING)
            continue;
        if (!is_in_maximum(inputs->settings->priority_flags, &tres[i]))
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
    *billing = cpus_of(inputs, &partition->totals);
    if (weights)
        *billing = sum > 0 && sum < 0x1p63 ? (uint64_t)sum : 0;
    return 0;
}

/*
 * Returns the generic resources of a partition.  The list has each resource that any node of the
 * cluster has in slurm.conf.
 */
static const struct gres_count *gres_of(const struct priority_inputs *inputs,
                                        const struct slurm_totals *totals, size_t *count)
{
    const struct slurm_totals *all = &inputs->settings->slurm->totals;
    struct gres_count *list =
        arena_take(inputs->queue->arena, (all->gres_count + 1) * sizeof *list);
    *count = 0;
    for (size_t i = 0; i < all->gres_count; i++) {
        const struct tres_fact *fact = tres_named(&inputs->facts, all->gres[i].name);
        struct gres_count gres = { fact ? fact->id : 0, all->gres[i].name, 0 };
        for (size_t k = 0; k < totals->gres_count; k++)
            if (!strcasecmp(totals->gres[k].name, gres.name))
                gres.count = totals->gres[k].count;
        list[(*count)++] = gres;
    }
    return list;
}

static struct partition_limits limits_of(const struct priority_inputs *inputs,
                                         const struct slurm_partition *known)
{
    if (!known)
        return (struct partition_limits){ .is_missing = inputs->queue->knows_partitions,
                                          .max_nodes = PRIORITY_NO_LIMIT };
    struct partition_limits limits = { .closed = known->closed, .max_nodes = known->max_nodes };
    if (known->may_have_more)
        return limits;
    limits.nodes = known->totals.nodes;
    limits.cpus = known->totals.cpus;
    limits.memory = known->totals.memory;
    limits.node_memory = known->totals.node_memory;
    if (limits.node_memory <= 1) /* Slurm's default without RealMemory */
        limits.memory = 0;
    if (limits.nodes)
        limits.gres = gres_of(inputs, &known->totals, &limits.gres_count);
    return limits;
}

/*
 * Adds a partition with its factor and its data from slurm.conf; `known` is NULL if slurm.conf
 * lacks it.
 */
static int add_partition(const struct priority_inputs *inputs, const struct slurm_partition *known,
                         const char *name, double factor, struct error *err)
{
    const struct priority_options *options = &inputs->queue->options;
    struct priority_partition partition = {
        .name = name,
        .factor = factor,
        .max_minutes = known ? known->max_time : PRIORITY_NO_LIMIT,
        .max_nodes = known && known->totals.nodes ? known->totals.nodes : PRIORITY_NO_LIMIT,
        .tier = known ? (int32_t)known->tier : PRIORITY_NO_TIER,
        .pool = known ? known->pool : "",
        .limits = limits_of(inputs, known),
    };
    uint64_t *totals = memory_zeroed(options->tres_count + 1, sizeof *totals);
    int result = 0;
    for (size_t i = 0; !result && known && i < options->tres_count; i++) {
        totals[i] = total_in(inputs, known, &options->tres[i]);
        if (options->tres[i].id == TRES_BILLING)
            result = billing_in(inputs, known, &totals[i], err);
    }
    partition.tres_totals = known ? totals : NULL;
    if (!result)
        queue_add_partition(inputs->queue, &partition);
    free(totals);
    return result;
}

/*
 * Parses a list like `GPU:100, debug:10`, and adds these partitions with their data from
 * slurm.conf.  Sets added[i] for each partition in the list, where i is the partition's index in
 * slurm.conf.
 */
static int take_given_factors(const struct priority_inputs *inputs, const struct names *partitions,
                              bool *added, struct error *err)
{
    const char *value = inputs->settings->partition_factors, *at = value;
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
        result = add_partition(inputs, known ? &inputs->settings->slurm->partitions[place] : NULL,
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
static int take_partitions(struct priority_inputs *inputs, struct error *err)
{
    const struct settings *settings = inputs->settings;
    const struct slurm_conf *conf = settings->slurm;
    size_t count = conf ? conf->partition_count : 0;
    inputs->queue->knows_partitions = count > 0;
    double unnamed = settings->conformance == CONFORMANCE_SLURMCTLD ? 1 : 0;
    struct names *partitions = names_create();
    bool *added = memory_zeroed(count + 1, sizeof *added);
    for (size_t i = 0; i < count; i++)
        names_add(partitions, conf->partitions[i].name, strlen(conf->partitions[i].name));
    int result = take_given_factors(inputs, partitions, added, err);
    for (size_t i = 0; !result && i < count; i++) {
        const struct slurm_partition *each = &conf->partitions[i];
        double factor = settings->partition_factors ? unnamed : (double)each->job_factor;
        if (!added[i])
            result = add_partition(inputs, each, each->name, factor, err);
    }
    names_destroy(partitions);
    free(added);
    inputs->queue->unnamed_factor = conf ? 0 : unnamed;
    return result;
}

/* Parses a list like `high:1.0, low:0.25`. */
static int take_qos_factors(const struct priority_inputs *inputs, struct error *err)
{
    const char *value = inputs->settings->qos_priority_factors, *at = value;
    int result = 0;
    for (char *item, *name; !result && (item = list_next(&at)); free(item)) {
        double factor;
        char *text = part(item, ':', &name);
        if (text && number_real(text, &factor))
            queue_give_qos(inputs->queue, name, factor);
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
static uint64_t count_nodes(const struct priority_inputs *inputs)
{
    uint64_t nodes = registered(inputs, TRES_NODE);
    size_t left = SLURM_NODES_AT_MOST;
    struct slurm_hosts hosts = { pass_over, NULL, &left };
    if (nodes)
        return nodes;
    if (*inputs->facts.nodes && !slurm_hosts_expand(&hosts, inputs->facts.nodes))
        return SLURM_NODES_AT_MOST - left;
    return inputs->settings->slurm ? inputs->settings->slurm->totals.nodes : 0;
}

static void take_options(struct priority_inputs *inputs, uint64_t now)
{
    const struct settings *settings = inputs->settings;
    unsigned flags = settings->priority_flags;
    struct priority_options *options = &inputs->queue->options;
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
    options->nodes = count_nodes(inputs);
    options->cpus = registered(inputs, TRES_CPU);
    if (!options->cpus && settings->slurm)
        options->cpus = cpus_of(inputs, &settings->slurm->totals);
}

int priority_inputs_take(struct priority_inputs *inputs, uint64_t now, struct findings *findings,
                         struct error *err)
{
    take_options(inputs, now);
    for (size_t i = 0; i < inputs->facts.qos_count; i++) {
        const struct qos_fact *qos = &inputs->facts.qos[i];
        struct priority_qos *added =
            queue_add_qos(inputs->queue, qos->id, qos->name, qos->priority);
        added->lifts_nodes = qos->lifts_nodes;
        added->lifts_time = qos->lifts_time;
    }
    if (read_tres_weights(inputs, findings, err) || take_partitions(inputs, err) ||
        take_qos_factors(inputs, err))
        return -1;
    return 0;
}
