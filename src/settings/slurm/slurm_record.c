/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_record.h"

#include <string.h>
#include <strings.h>

#include "util/error.h"
#include "util/memory.h"

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
    { "Priority", PARTITION_PRIORITY },
    { "MaxTime", PARTITION_MAX_TIME },
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

static int refuse(const struct slurm_record *record, const char *key, const char *value,
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
    return refuse(record, key->name, record->values[value], wanted, err);
}

int slurm_record_refuse_name(const struct slurm_record *record, const char *why, struct error *err)
{
    return refuse(record, kinds[record->kind].name, record->name, why, err);
}

static void take_pair(struct slurm_record *record, const struct slurm_pair *pair,
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
        return slurm_record_refuse_name(record, "must be = and a name", err);
    for (struct slurm_pair pair; slurm_pair_next(&rest, &pair);)
        take_pair(record, &pair, arena);
    return *rest ? fail(err, ERROR_SETTINGS, "'%s', line %u: something that is not KEY=VALUE",
                        line->place.file, line->place.line)
                 : 0;
}
