/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "settings/slurm/slurm_conf.h"
#include "settings/slurm/slurm_model.h"
#include "settings/slurm/slurm_value.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/*
 * Lines for nodes, sets of nodes and partitions may be in any order, so they are resolved in two
 * steps.  While the file is read, each NodeName line becomes a model, its nodes are numbered, and
 * sets and partitions are stored.  After the last line, slurm_nodes_finish() counts how many nodes
 * of each model a partition has, and multiplies these counts by the hardware of the models.
 */

/*
 * The maximum number of names in the lists of all partitions together.  It is sufficient for 60
 * partitions with as many nodes as Slurm accepts.
 */
#define NAMES_AT_MOST 4000000

/* Lines of one kind with unique names. */
struct records {
    struct slurm_record *records;
    struct names *names; /* with the same indexes as `records` */
};

struct slurm_nodes {
    struct slurm_conf *conf;
    struct slurm_record defaults[SLURM_KINDS];

    struct slurm_model *models; /* one for each NodeName line */
    size_t model_count;
    struct names *names; /* of nodes */
    uint32_t *model_of;  /* indexed by node: its model */

    struct records sets, partitions;
    size_t names_left;
};

/* slurm_nodes_finish() stores the result in `conf`, which must outlive the nodes. */
static struct slurm_nodes *slurm_nodes_create(struct slurm_conf *conf)
{
    struct slurm_nodes *nodes = memory_zeroed(1, sizeof *nodes);
    nodes->conf = conf;
    nodes->names = names_create();
    nodes->sets.names = names_create();
    nodes->partitions.names = names_create();
    nodes->names_left = NAMES_AT_MOST;
    return nodes;
}

static void slurm_nodes_destroy(struct slurm_nodes *nodes)
{
    if (!nodes)
        return;
    for (size_t i = 0; i < nodes->model_count; i++)
        free(nodes->models[i].gres);
    free(nodes->models);
    names_destroy(nodes->names);
    free(nodes->model_of);
    free(nodes->sets.records);
    names_destroy(nodes->sets.names);
    free(nodes->partitions.records);
    names_destroy(nodes->partitions.names);
    free(nodes);
}

/* The NodeName line whose names are being added. */
struct naming {
    struct slurm_nodes *nodes;
    struct slurm_place place;
    bool noted;
};

static void slurm_read_take_node(void *context, const char *name, size_t length)
{
    struct naming *naming = context;
    struct slurm_nodes *nodes = naming->nodes;
    uint32_t count = names_count(nodes->names);
    if (names_add(nodes->names, name, length) != count) {
        if (!naming->noted)
            slurm_conf_note(nodes->conf, naming->place,
                            "node '%.*s' is defined twice; only its first line counts", (int)length,
                            name);
        naming->noted = true;
        return;
    }
    nodes->model_of = memory_grown(nodes->model_of, count, sizeof *nodes->model_of);
    nodes->model_of[count] = (uint32_t)(nodes->model_count - 1);
}

static int slurm_read_take_nodes(struct slurm_nodes *nodes, const struct slurm_record *record,
                                 struct error *err)
{
    struct slurm_model *model = memory_append(&nodes->models, &nodes->model_count);
    if (slurm_model_read(model, record, nodes->conf->arena, err))
        return -1;
    struct naming naming = { nodes, record->place, false };
    size_t left = SLURM_NODES_AT_MOST - names_count(nodes->names);
    struct slurm_hosts hosts = { slurm_read_take_node, &naming, &left };
    const char *wrong = slurm_hosts_expand(&hosts, record->name);
    return wrong ? slurm_record_refuse_name(record, wrong, err) : 0;
}

/*
 * Stores a set or a partition.  Like slurmctld, ignores a second set or partition with the same
 * name.
 */
static void slurm_read_keep(struct slurm_nodes *nodes, struct records *records,
                            const struct slurm_record *record)
{
    uint32_t count = names_count(records->names);
    if (names_add(records->names, record->name, strlen(record->name)) != count) {
        slurm_conf_note(nodes->conf, record->place,
                        "'%s' is defined twice; only its first line counts", record->name);
        return;
    }
    records->records = memory_grown(records->records, count, sizeof *records->records);
    records->records[count] = *record;
}

static int slurm_nodes_add(struct slurm_nodes *nodes, const struct slurm_line *line,
                           struct error *err)
{
    enum slurm_kind kind = slurm_kind_of(line->first.key);
    struct slurm_record record;
    if (slurm_record_read(&record, &nodes->defaults[kind], line, nodes->conf->arena, err))
        return -1;
    if (kind != SLURM_SET && !strcasecmp(record.name, "DEFAULT"))
        nodes->defaults[kind] = record;
    else if (kind == SLURM_NODE)
        return slurm_read_take_nodes(nodes, &record, err);
    else
        slurm_read_keep(nodes, kind == SLURM_SET ? &nodes->sets : &nodes->partitions, &record);
    return 0;
}

/* Counts the nodes of one partition after the other. */
struct counting {
    struct slurm_nodes *nodes;
    const struct slurm_record *partition; /* the current partition */
    uint32_t number;                      /* number of the partition, from 1 */
    uint32_t *counted_in; /* indexed by node: the last partition in which it was counted */
    uint32_t *set_in;     /* indexed by set: the last partition in which it was counted */
    uint32_t *sets_named; /* sets of the partition whose nodes are not counted yet */
    uint32_t set_count;   /* number of these sets */
    uint64_t *members;    /* indexed by model: the number of its nodes in the partition */
    uint32_t *pool_of;    /* indexed by partition: itself, or another partition of its pool */
    bool noted;           /* the partition has a warning about an unknown node */
    bool is_dynamic;      /* slurmctld accepts more nodes than slurm.conf defines */
};

/* Returns the index of the partition with the first name of a pool. */
static uint32_t slurm_read_first_of_pool(const struct counting *counting, uint32_t partition)
{
    uint32_t *pool_of = counting->pool_of;
    while (pool_of[partition] != partition)
        partition = pool_of[partition] = pool_of[pool_of[partition]];
    return partition;
}

static void slurm_read_join_pools(const struct counting *counting, uint32_t one, uint32_t other)
{
    const struct slurm_record *records = counting->nodes->partitions.records;
    uint32_t first = slurm_read_first_of_pool(counting, one);
    uint32_t second = slurm_read_first_of_pool(counting, other);
    if (first == second)
        return;
    bool in_order = strcmp(records[first].name, records[second].name) < 0;
    counting->pool_of[in_order ? second : first] = in_order ? first : second;
}

static void count_node(struct counting *counting, uint32_t node)
{
    uint32_t last = counting->counted_in[node];
    if (last == counting->number)
        return;
    if (last)
        slurm_read_join_pools(counting, last - 1, counting->number - 1);
    counting->counted_in[node] = counting->number;
    counting->members[counting->nodes->model_of[node]]++;
}

static void take_node_name(struct counting *counting, const char *name, size_t length)
{
    uint32_t node = names_find(counting->nodes->names, name, length);
    if (node != INDEX_NONE) {
        count_node(counting, node);
        return;
    }
    if (!counting->noted)
        slurm_conf_note(counting->nodes->conf, counting->partition->place,
                        "partition '%s' contains '%.*s', which is not a node",
                        counting->partition->name, (int)length, name);
    counting->noted = true;
}

/* The name is a set or a node.  A set is only queued, because it may contain other sets. */
static void slurm_read_take_name(void *context, const char *name, size_t length)
{
    struct counting *counting = context;
    uint32_t set = names_find(counting->nodes->sets.names, name, length);
    if (set == INDEX_NONE)
        take_node_name(counting, name, length);
    else if (counting->set_in[set] != counting->number) {
        counting->set_in[set] = counting->number;
        counting->sets_named[counting->set_count++] = set;
    }
}

static const char *count_list(struct counting *counting, const char *list)
{
    struct slurm_nodes *nodes = counting->nodes;
    if (!list)
        return NULL;
    if (!strcasecmp(list, "ALL")) {
        for (uint32_t i = 0; i < names_count(nodes->names); i++)
            count_node(counting, i);
        return NULL;
    }
    struct slurm_hosts hosts = { slurm_read_take_name, counting, &nodes->names_left };
    return slurm_hosts_expand(&hosts, list);
}

static void count_feature(struct counting *counting, const char *feature)
{
    const struct slurm_nodes *nodes = counting->nodes;
    bool *has = memory_zeroed(nodes->model_count + 1, sizeof *has);
    for (size_t model = 0; model < nodes->model_count; model++)
        has[model] = slurm_model_has_feature(&nodes->models[model], feature);
    for (uint32_t i = 0; i < names_count(nodes->names); i++)
        if (has[nodes->model_of[i]])
            count_node(counting, i);
    free(has);
}

/*
 * Counts the nodes that the queued sets list or select by feature.  Each set is counted once in a
 * partition, so sets may contain each other.
 */
static int count_sets(struct counting *counting, struct error *err)
{
    while (counting->set_count) {
        const struct slurm_record *set =
            &counting->nodes->sets.records[counting->sets_named[--counting->set_count]];
        if (set->values[SET_FEATURE])
            count_feature(counting, set->values[SET_FEATURE]);
        const char *wrong = count_list(counting, set->values[SET_NODES]);
        if (wrong)
            return slurm_record_refuse(set, SET_NODES, wrong, err);
    }
    return 0;
}

static void add_up(const struct counting *counting, struct slurm_totals *totals)
{
    for (size_t i = 0; i < counting->nodes->model_count; i++)
        slurm_totals_add(totals, &counting->nodes->models[i], counting->members[i]);
}

static int finish_partition(struct counting *counting, const struct slurm_record *record,
                            struct error *err)
{
    struct slurm_nodes *nodes = counting->nodes;
    struct slurm_partition *partition = &nodes->conf->partitions[nodes->conf->partition_count++];
    *partition = (struct slurm_partition){
        .name = record->name,
        .place = record->place,
        .billing_weights = record->values[PARTITION_WEIGHTS],
    };
    if (slurm_partition_read(partition, record, err))
        return -1;
    counting->partition = record;
    counting->number++;
    counting->noted = false;
    memset(counting->members, 0, nodes->model_count * sizeof *counting->members);
    const char *wrong = count_list(counting, record->values[PARTITION_NODES]);
    if (wrong)
        return slurm_record_refuse(record, PARTITION_NODES, wrong, err);
    if (count_sets(counting, err))
        return -1;
    add_up(counting, &partition->totals);
    partition->may_have_more = counting->noted || counting->is_dynamic;
    return 0;
}

/*
 * Returns true if slurmctld accepts more nodes than slurm.conf defines.  Such a node is added by
 * slurmd -Z or `scontrol create`, and may join any partition.
 */
static bool accepts_dynamic_nodes(const struct slurm_nodes *nodes)
{
    const char *most = nodes->conf->given[SLURM_MAX_NODE_COUNT].value;
    uint64_t count;
    return most && (!slurm_number(most, UINT32_MAX, &count) || count > names_count(nodes->names));
}

/* Computes the totals of the cluster and of each partition; call after the last line. */
static int slurm_nodes_finish(struct slurm_nodes *nodes, struct error *err)
{
    struct slurm_conf *conf = nodes->conf;
    uint32_t count = names_count(nodes->names), partitions = names_count(nodes->partitions.names);
    uint32_t sets = names_count(nodes->sets.names);
    struct counting counting = {
        .nodes = nodes,
        .counted_in = memory_zeroed(count + 1, sizeof *counting.counted_in),
        .set_in = memory_zeroed(sets + 1, sizeof *counting.set_in),
        .sets_named = memory_zeroed(sets + 1, sizeof *counting.sets_named),
        .members = memory_zeroed(nodes->model_count + 1, sizeof *counting.members),
        .pool_of = memory_zeroed(partitions + 1, sizeof *counting.pool_of),
        .is_dynamic = accepts_dynamic_nodes(nodes),
    };
    for (uint32_t i = 0; i < partitions; i++)
        counting.pool_of[i] = i;
    for (uint32_t i = 0; i < count; i++)
        counting.members[nodes->model_of[i]]++;
    add_up(&counting, &conf->totals);
    conf->partitions = memory_zeroed(partitions + 1, sizeof *conf->partitions);
    int result = 0;
    for (uint32_t i = 0; !result && i < partitions; i++)
        result = finish_partition(&counting, &nodes->partitions.records[i], err);
    for (uint32_t i = 0; !result && i < partitions; i++)
        conf->partitions[i].pool =
            nodes->partitions.records[slurm_read_first_of_pool(&counting, i)].name;
    free(counting.counted_in);
    free(counting.set_in);
    free(counting.sets_named);
    free(counting.members);
    free(counting.pool_of);
    return result;
}

struct slurm_read_target {
    struct slurm_conf *conf;
    struct slurm_nodes *nodes;
};

static int slurm_read_value(struct slurm_conf *conf, struct slurm_given *given,
                            const struct slurm_line *line, struct error *err)
{
    struct slurm_place place = line->place;
    const struct slurm_pair *pair = &line->first;
    const char *rest = line->rest + strspn(line->rest, " \t\r\n\v\f");
    if (*rest)
        return fail(err, ERROR_SETTINGS, "'%s', line %u: unexpected text after the value of %s",
                    place.file, place.line, pair->key);
    *given = (struct slurm_given){
        arena_copy(conf->arena, pair->value, strlen(pair->value)),
        place,
    };
    return 0;
}

static int slurm_read_line(void *context, struct slurm_place place, char *text, struct error *err)
{
    struct slurm_read_target *target = context;
    struct slurm_line line = { .place = place, .rest = text };
    /* Do not print the line, because it may contain a secret. */
    if (!slurm_pair_next(&line.rest, &line.first))
        return fail(err, ERROR_SETTINGS, "'%s', line %u: expected KEY=VALUE or `Include FILE`",
                    place.file, place.line);
    if (!strcasecmp(line.first.key, "Include"))
        return fail(err, ERROR_SETTINGS,
                    "'%s', line %u: Slurm rejects an Include with a '='; write `Include FILE`",
                    place.file, place.line);
    if (slurm_kind_of(line.first.key) != SLURM_KINDS)
        return slurm_nodes_add(target->nodes, &line, err);
    for (int key = 0; key < SLURM_KEYS; key++)
        if (!strcasecmp(line.first.key, slurm_key_name((enum slurm_key)key)))
            return slurm_read_value(target->conf, &target->conf->given[key], &line, err);
    return 0;
}

const char *slurm_conf_find(struct error *err)
{
    static const char *const places[] = { "/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf" };
    const char *named = getenv("SLURM_CONF");
    if (named && *named)
        return named;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!access(places[i], F_OK))
            return places[i];
    fail(err, ERROR_SETTINGS,
         "auto finds no slurm.conf: SLURM_CONF is not set, and neither '%s' nor '%s' exists; set "
         "conf to its path",
         places[0], places[1]);
    return NULL;
}

static void note_dampening(struct slurm_conf *conf)
{
    const struct slurm_given *given = &conf->given[SLURM_DAMPENING_FACTOR];
    uint64_t number;
    if (given->value && slurm_number(given->value, UINT16_MAX, &number) && !number)
        slurm_conf_note(conf, given->place, "%s = 0, but slurmctld divides by it; fairmill uses 1",
                        slurm_key_name(SLURM_DAMPENING_FACTOR));
}

int slurm_conf_read(struct slurm_conf **read, const char *path, struct error *err)
{
    struct slurm_conf *conf = memory_zeroed(1, sizeof *conf);
    conf->arena = arena_create();
    conf->path = arena_copy(conf->arena, path, strlen(path));
    struct slurm_read_target target = { conf, slurm_nodes_create(conf) };
    const struct slurm_reader reader = {
        .take = slurm_read_line,
        .context = &target,
        .cluster = &conf->given[SLURM_CLUSTER_NAME].value,
        .arena = conf->arena,
    };
    int result = slurm_file_read(&reader, path, &conf->files, err);
    if (!result)
        result = slurm_nodes_finish(target.nodes, err);
    note_dampening(conf);
    slurm_nodes_destroy(target.nodes);
    if (result) {
        slurm_conf_destroy(conf);
        return -1;
    }
    *read = conf;
    return 0;
}
