/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_value.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

struct record_key {
    const char *name;
    int value;
};
static const struct record_key node_keys[] = {
    { "CPUs", NODE_CPUS },
    { "Procs", NODE_PROCS },
    { "Boards", NODE_BOARDS },
    { "Sockets", NODE_SOCKETS },
    { "SocketsPerBoard", NODE_SOCKETS_PER_BOARD },
    { "CoresPerSocket", NODE_CORES },
    { "ThreadsPerCore", NODE_THREADS },
    { "RealMemory", NODE_MEMORY },
    { "Gres", NODE_GRES },
    { "Features", NODE_FEATURES },
    { "Feature", NODE_FEATURES },
    { "CoreSpecCount", NODE_SPEC_COUNT },
    { "CpuSpecList", NODE_SPEC_LIST },
    { NULL, 0 },
};
static const struct record_key set_keys[] = {
    { "Nodes", SET_NODES },
    { "Feature", SET_FEATURE },
    { NULL, 0 },
};
static const struct record_key partition_keys[] = {
    { "Nodes", PARTITION_NODES },
    { "PriorityJobFactor", PARTITION_JOB_FACTOR },
    { "PriorityTier", PARTITION_TIER },
    { "Priority", PARTITION_PRIORITY },
    { "MaxTime", PARTITION_MAX_TIME },
    { "MaxNodes", PARTITION_MAX_NODES },
    { "State", PARTITION_STATE },
    { "TRESBillingWeights", PARTITION_WEIGHTS },
    { NULL, 0 },
};

static const struct {
    const char *name;
    const struct record_key *keys;
} kinds[SLURM_KINDS] = {
    [SLURM_NODE] = { "NodeName", node_keys },
    [SLURM_SET] = { "NodeSet", set_keys },
    [SLURM_PARTITION] = { "PartitionName", partition_keys },
};

enum slurm_kind slurm_kind_of(const char *key)
{
    int kind = 0;
    while (kind < SLURM_KINDS && strcasecmp(kinds[kind].name, key) != 0)
        kind++;
    return (enum slurm_kind)kind;
}

static int slurm_model_refuse(const struct slurm_record *record, const char *key, const char *value,
                              const char *why, struct error *err)
{
    return fail(err, ERROR_SETTINGS, "'%s', line %u: %s = '%s': %s", record->place.file,
                record->place.line, key, value, why);
}

int slurm_record_refuse(const struct slurm_record *record, int value, const char *wanted,
                        struct error *err)
{
    const struct record_key *key = kinds[record->kind].keys;
    while (key->value != value)
        key++;
    return slurm_model_refuse(record, key->name, record->values[value], wanted, err);
}

int slurm_record_refuse_name(const struct slurm_record *record, const char *why, struct error *err)
{
    return slurm_model_refuse(record, kinds[record->kind].name, record->name, why, err);
}

static void slurm_model_take_pair(struct slurm_record *record, const struct slurm_pair *pair,
                                  struct arena *arena)
{
    const struct record_key *key = kinds[record->kind].keys;
    while (key->name && strcasecmp(key->name, pair->key) != 0)
        key++;
    if (key->name)
        record->values[key->value] = arena_copy(arena, pair->value, strlen(pair->value));
}

int slurm_record_read(struct slurm_record *record, const struct slurm_record *defaults,
                      const struct slurm_line *line, struct arena *arena, struct error *err)
{
    const struct slurm_pair *first = &line->first;
    char *rest = line->rest;
    *record = *defaults;
    record->kind = slurm_kind_of(first->key);
    record->place = line->place;
    record->name = arena_copy(arena, first->value, strlen(first->value));
    if (!*record->name)
        return slurm_record_refuse_name(record, "must not be empty", err);
    for (struct slurm_pair pair; slurm_pair_next(&rest, &pair);)
        slurm_model_take_pair(record, &pair, arena);
    return *rest ? fail(err, ERROR_SETTINGS,
                        "'%s', line %u: the line contains text that is not KEY=VALUE",
                        line->place.file, line->place.line)
                 : 0;
}

static int slurm_partition_take_number(const struct slurm_record *record, int value,
                                       uint64_t *number, struct error *err)
{
    if (!record->values[value] || slurm_number(record->values[value], UINT16_MAX, number))
        return 0;
    return slurm_record_refuse(record, value, "must be a number up to 65535", err);
}

/* Like Slurm, compares only the beginning of the value. */
static int slurm_partition_take_state(const struct slurm_record *record, const char **closed,
                                      struct error *err)
{
    static const char *const states[] = { "UP", "DRAIN", "DOWN", "INACTIVE" };
    const char *state = record->values[PARTITION_STATE];
    size_t i = 0;
    *closed = NULL;
    if (!state)
        return 0;
    while (i < 4 && strncasecmp(state, states[i], strlen(states[i])) != 0)
        i++;
    if (i == 4)
        return slurm_record_refuse(record, PARTITION_STATE, "must be UP, DOWN, DRAIN or INACTIVE",
                                   err);
    if (i > 1) /* a partition with DRAIN still starts the jobs that it has */
        *closed = states[i];
    return 0;
}

int slurm_partition_read(struct slurm_partition *partition, const struct slurm_record *record,
                         struct error *err)
{
    const char *max_time = record->values[PARTITION_MAX_TIME];
    const char *max_nodes = record->values[PARTITION_MAX_NODES];
    partition->job_factor = partition->tier = 1;
    partition->max_time = partition->max_nodes = SLURM_UNLIMITED;
    if (slurm_partition_take_number(record, PARTITION_JOB_FACTOR, &partition->job_factor, err) ||
        slurm_partition_take_number(record, PARTITION_TIER, &partition->tier, err))
        return -1;
    /* Priority is the older key for both.  If several keys are given, Slurm uses Priority. */
    if (record->values[PARTITION_PRIORITY]) {
        if (slurm_partition_take_number(record, PARTITION_PRIORITY, &partition->tier, err))
            return -1;
        partition->job_factor = partition->tier;
    }
    if (max_time && !slurm_minutes(max_time, &partition->max_time))
        return slurm_record_refuse(record, PARTITION_MAX_TIME,
                                   "must be min, min:sec, hr:min:sec, days-hr, days-hr:min, "
                                   "days-hr:min:sec or UNLIMITED",
                                   err);
    if (max_nodes && !slurm_number(max_nodes, UINT32_MAX, &partition->max_nodes))
        return slurm_record_refuse(record, PARTITION_MAX_NODES, "must be a number or UNLIMITED",
                                   err);
    if (partition->max_nodes >= UINT32_MAX)
        partition->max_nodes = SLURM_UNLIMITED;
    return slurm_partition_take_state(record, &partition->closed, err);
}

/* Sets `*count` to 0 if the value is missing.  Like Slurm, replaces an explicit 0 by 1. */
static int take_count(const struct slurm_record *record, int value, uint64_t limit, uint64_t *count,
                      struct error *err)
{
    *count = 0;
    if (!record->values[value])
        return 0;
    if (!slurm_number(record->values[value], limit, count)) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "must be a whole number from 0 to %" PRIu64, limit);
        return slurm_record_refuse(record, value, wanted, err);
    }
    if (!*count)
        *count = 1;
    return 0;
}

/*
 * Counts the cores that contain a CPU of the list, such as `0,2-3`.  Each core has `each` CPUs.
 * Returns false if the list is invalid.
 */
static bool count_spec_cores(const char *list, uint64_t cores, uint64_t each, uint64_t *count)
{
    bool *kept = memory_zeroed(cores + 1, sizeof *kept), good = true;
    for (const char *at = list; good && *at;) {
        size_t length = strspn(at, "0123456789");
        uint64_t from, to;
        good = number_unsigned(at, length, &from);
        to = from;
        at += length;
        if (good && *at == '-') {
            length = strspn(++at, "0123456789");
            good = number_unsigned(at, length, &to);
            at += length;
        }
        good = good && from <= to && (!*at || (*at == ',' && at[1]));
        at += *at == ',';
        for (uint64_t core = good ? from / each : cores; core < cores && core <= to / each; core++)
            kept[core] = true;
    }
    *count = 0;
    for (uint64_t core = 0; core < cores; core++)
        *count += kept[core];
    free(kept);
    return good;
}

/*
 * Follows Slurm's create_node_record().  CpuSpecList takes precedence over CoreSpecCount.  If a
 * node has as many CPUs as cores, each core has one CPU.
 */
static int take_spec_cpus(struct slurm_model *model, const struct slurm_record *record,
                          uint64_t cores, uint64_t threads, struct error *err)
{
    const char *list = record->values[NODE_SPEC_LIST], *count = record->values[NODE_SPEC_COUNT];
    uint64_t each = cores >= model->cpus ? 1 : threads, kept = 0;
    if (list && (cores > UINT16_MAX || !count_spec_cores(list, cores, each, &kept)))
        return slurm_record_refuse(record, NODE_SPEC_LIST, "must be a list of CPUs, such as 0,2-3",
                                   err);
    if (!list && count && !slurm_number(count, UINT16_MAX, &kept))
        return slurm_record_refuse(record, NODE_SPEC_COUNT,
                                   "must be a number of cores, at most 65535", err);
    model->spec_cpus = kept * each < model->cpus ? kept * each : model->cpus;
    return 0;
}

/*
 * Slurm uses the given CPUs only if they equal the number of sockets or of cores.  Otherwise it
 * uses the product of sockets, cores and threads.
 */
static int take_cpus(struct slurm_model *model, const struct slurm_record *record,
                     struct error *err)
{
    uint64_t *cpus = &model->cpus;
    uint64_t given[NODE_THREADS + 1];
    for (int value = 0; value <= NODE_THREADS; value++)
        if (take_count(record, value, UINT16_MAX, &given[value], err))
            return -1;
    uint64_t boards = given[NODE_BOARDS] ? given[NODE_BOARDS] : 1;
    uint64_t cores = given[NODE_CORES] ? given[NODE_CORES] : 1;
    uint64_t threads = given[NODE_THREADS] ? given[NODE_THREADS] : 1;
    uint64_t sockets = given[NODE_SOCKETS];
    *cpus = given[NODE_CPUS] ? given[NODE_CPUS] : given[NODE_PROCS];
    if (given[NODE_SOCKETS_PER_BOARD])
        sockets = boards * given[NODE_SOCKETS_PER_BOARD];
    else if (!sockets)
        sockets = *cpus && *cpus % (cores * threads) == 0 ? *cpus / (cores * threads) : boards;
    uint64_t all = sockets <= UINT16_MAX ? sockets * cores * threads : UINT64_MAX;
    if (all > SLURM_OF_A_NODE_AT_MOST)
        return slurm_record_refuse_name(
            record, "the node has too many CPUs; check its sockets, cores and threads", err);
    if (*cpus != sockets && *cpus != sockets * cores)
        *cpus = all;
    return take_spec_cpus(model, record, sockets * cores, threads, err);
}

/* Returns the count of a TRES in a list.  If the list lacks the TRES, adds it with a count of 0. */
static uint64_t *slurm_model_count_of(struct slurm_tres **list, size_t *length, const char *name)
{
    for (size_t i = 0; i < *length; i++)
        if (!strcasecmp((*list)[i].name, name))
            return &(*list)[i].count;
    *list = memory_grown(*list, *length, sizeof **list);
    (*list)[*length] = (struct slurm_tres){ name, 0 };
    return &(*list)[(*length)++].count;
}

static bool add_gres(struct slurm_model *model, const char *name, const char *type, uint64_t number,
                     struct arena *arena)
{
    struct text text = { 0 };
    text_format(&text, "gres/%s%s%s", name, type ? ":" : "", type ? type : "");
    const char *kept = arena_copy(arena, text.bytes, text.length);
    text_free(&text);
    uint64_t *count = slurm_model_count_of(&model->gres, &model->gres_count, kept);
    return !__builtin_add_overflow(*count, number, count) && *count <= SLURM_OF_A_NODE_AT_MOST;
}

/*
 * Parses `gpu`, `gpu:2`, `gpu:a100:2` or `bandwidth:lustre:no_consume:4G`.  Ignores sockets, which
 * may follow in parentheses.
 */
static bool take_gres_item(struct slurm_model *model, char *item, struct arena *arena)
{
    char *fields[8] = { NULL }, *type = NULL;
    size_t count = 0;
    uint64_t number = 1;
    item[strcspn(item, "(")] = '\0';
    for (char *at = item; count < 8; *at++ = '\0') {
        fields[count++] = at;
        at += strcspn(at, ":");
        if (!*at)
            break;
    }
    if (count > 1 && slurm_count(fields[count - 1], strlen(fields[count - 1]), &number))
        count--;
    for (size_t i = 1; i < count && !type; i++)
        if (strcasecmp(fields[i], "no_consume") != 0)
            type = fields[i];
    return *fields[0] && add_gres(model, fields[0], NULL, number, arena) &&
           (!type || add_gres(model, fields[0], type, number, arena));
}

/* A comma in parentheses does not end an item. */
static int take_gres(struct slurm_model *model, const struct slurm_record *record,
                     struct arena *arena, struct error *err)
{
    const char *at = record->values[NODE_GRES];
    if (at && !strcasecmp(at, "(null)")) /* copied from scontrol's output: no gres */
        return 0;
    while (at && *at) {
        size_t length = 0;
        for (int depth = 0; at[length] && (depth > 0 || at[length] != ','); length++)
            depth += (at[length] == '(') - (at[length] == ')');
        char *item = memory_bytes(at, length);
        bool good = !length || take_gres_item(model, item, arena);
        free(item);
        if (!good)
            return slurm_record_refuse(record, NODE_GRES,
                                       "must be NAME[:TYPE][:no_consume][:NUMBER], separated by "
                                       "commas, with at most 2^46 of each",
                                       err);
        at += length + (at[length] == ',');
    }
    return 0;
}

int slurm_model_read(struct slurm_model *model, const struct slurm_record *record,
                     struct arena *arena, struct error *err)
{
    *model = (struct slurm_model){ .features = record->values[NODE_FEATURES] };
    if (take_cpus(model, record, err) ||
        take_count(record, NODE_MEMORY, SLURM_OF_A_NODE_AT_MOST, &model->memory, err) ||
        take_gres(model, record, arena, err))
        return -1;
    if (!model->memory)
        model->memory = 1;
    return 0;
}

bool slurm_model_has_feature(const struct slurm_model *model, const char *feature)
{
    size_t length = strlen(feature);
    for (const char *at = model->features; at && *at;) {
        size_t next = strcspn(at, ", \t");
        if (next == length && !strncmp(at, feature, length))
            return true;
        at += next + strspn(at + next, ", \t");
    }
    return false;
}

void slurm_totals_add(struct slurm_totals *totals, const struct slurm_model *model, uint64_t nodes)
{
    totals->nodes += nodes;
    totals->cpus += nodes * model->cpus;
    totals->spec_cpus += nodes * model->spec_cpus;
    totals->memory += nodes * model->memory;
    if (nodes && model->memory > totals->node_memory)
        totals->node_memory = model->memory;
    for (size_t i = 0; nodes && i < model->gres_count; i++)
        *slurm_model_count_of(&totals->gres, &totals->gres_count, model->gres[i].name) +=
            nodes * model->gres[i].count;
}
