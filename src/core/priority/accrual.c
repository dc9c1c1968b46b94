/* SPDX-License-Identifier: MIT */
#include "core/priority/accrual.h"

#include <stdlib.h>

#include "core/priority/slots.h"
#include "core/tree/tree.h"
#include "util/index.h"
#include "util/memory.h"

/* accrual_replay() takes four steps.  place_limits() gives each limit of an association a counter.
 * collect() determines the owner of each wait: its counters, and the counter that bounds it.
 * collect() also creates the counters for limits of a QOS.  slots_replay() determines when each
 * wait gets a slot, and take_slots() copies this time to the waits. */

struct accrual *accrual_create(void)
{
    return memory_zeroed(1, sizeof(struct accrual));
}

void accrual_destroy(struct accrual *accrual)
{
    if (!accrual)
        return;
    free(accrual->qos);
    free(accrual->associations);
    free(accrual->waits);
    free(accrual);
}

void accrual_limit_qos(struct accrual *accrual, const struct accrual_of_qos *limits)
{
    *memory_append(&accrual->qos, &accrual->qos_count) = *limits;
}

void accrual_limit_association(struct accrual *accrual, const struct accrual_of_association *limits)
{
    *memory_append(&accrual->associations, &accrual->association_count) = *limits;
}

static uint32_t place_of_qos(const struct accrual *accrual, uint64_t id)
{
    for (uint32_t i = 0; i < accrual->qos_count; i++)
        if (accrual->qos[i].id == id)
            return i;
    return INDEX_NONE;
}

bool accrual_may_bound(const struct accrual *accrual, uint64_t qos)
{
    return accrual->association_count || place_of_qos(accrual, qos) != INDEX_NONE;
}

void accrual_add(struct accrual *accrual, const struct accrual_wait *wait)
{
    if (wait->since >= wait->until)
        return;
    *memory_append(&accrual->waits, &accrual->count) = *wait;
}

/* The limits of one cluster, with a counter for each. */
struct accrual_limits {
    const struct accrual *accrual;
    const struct tree *tree;
    struct accrual_rules rules;
    uint32_t *own, *group; /* indexed by node; accounts pass their `own` limit down */
    uint32_t *counter;     /* indexed by node: its own counter, or that of the nearest ancestor, or
                              INDEX_NONE */
    struct id_index *of_names; /* counters of an account or a user in a QOS */
    struct id_index *of_pairs; /* maps a node and a QOS to the owner */
    uint32_t *most;            /* indexed by counter */
    uint32_t *above; /* for each counter, the nearest association's counter above, or INDEX_NONE */
    uint32_t counter_count;
    struct slots_owner *owners;
    uint32_t owner_count;
    uint32_t *counters; /* of the current owner */
    uint32_t count;
    struct arena *arena;
};

static void accrual_limits_free(struct accrual_limits *limits)
{
    free(limits->own);
    free(limits->group);
    free(limits->counter);
    free(limits->most);
    free(limits->above);
    free(limits->owners);
    id_index_destroy(limits->of_names);
    id_index_destroy(limits->of_pairs);
    arena_destroy(limits->arena);
}

static uint32_t new_counter(struct accrual_limits *limits, uint32_t most, uint32_t above)
{
    limits->above = memory_grown(limits->above, limits->counter_count, sizeof *limits->above);
    limits->above[limits->counter_count] = above;
    limits->most = memory_grown(limits->most, limits->counter_count, sizeof *limits->most);
    limits->most[limits->counter_count] = most;
    return limits->counter_count++;
}

static uint32_t least_of(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* Returns the limit of the node itself.  The limit of a single association applies only to users,
 * because only users have jobs. */
static uint32_t limit_at(const struct accrual_limits *limits, uint32_t node)
{
    uint32_t group = limits->group[node];
    uint32_t own = limits->tree->nodes[node].is_user ? limits->own[node] : ACCRUAL_UNLIMITED;
    if (limits->rules.takes_least || group == ACCRUAL_UNLIMITED)
        return least_of(group, own);
    return group;
}

static uint32_t *unlimited(const struct tree *tree)
{
    uint32_t *values = memory_zeroed(tree->count, sizeof *values);
    for (uint32_t i = 0; i < tree->count; i++)
        values[i] = ACCRUAL_UNLIMITED;
    return values;
}

static void place_limits(struct accrual_limits *limits)
{
    const struct tree *tree = limits->tree;
    const struct accrual *accrual = limits->accrual;
    limits->own = unlimited(tree);
    limits->group = unlimited(tree);
    limits->counter = unlimited(tree);
    for (size_t i = 0; i < accrual->association_count; i++) {
        const struct accrual_of_association *each = &accrual->associations[i];
        uint32_t node = tree_place(tree, each->id);
        if (node == NO_NODE || tree->nodes[node].id != each->id)
            continue;
        limits->own[node] = each->own;
        limits->group[node] = each->group;
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t parent = tree->nodes[i].parent;
        if (limits->own[i] == ACCRUAL_UNLIMITED && parent != NO_NODE)
            limits->own[i] = limits->own[parent];
        uint32_t most = limit_at(limits, i);
        uint32_t above = parent != NO_NODE ? limits->counter[parent] : INDEX_NONE;
        limits->counter[i] = most != ACCRUAL_UNLIMITED ? new_counter(limits, most, above) : above;
    }
}

static void accrual_count_in(struct accrual_limits *limits, uint32_t counter)
{
    *memory_append(&limits->counters, &limits->count) = counter;
}

/* The limits of a QOS: for all jobs, for an account, for a user. */
enum { OF_QOS, OF_ACCOUNT, OF_USER, QOS_LIMITS };

/* Adds the counters of a QOS.  Returns the counter that bounds its jobs, or INDEX_NONE. */
static uint32_t count_in_qos(struct accrual_limits *limits, uint32_t place, const struct node *node)
{
    const struct accrual_of_qos *qos = &limits->accrual->qos[place];
    const uint32_t most[] = { qos->group, qos->account, qos->user };
    const uint32_t name[] = { 0, node->account, node->user };
    uint32_t bound = INDEX_NONE;
    for (uint32_t i = OF_QOS; i < QOS_LIMITS; i++) {
        if (most[i] == ACCRUAL_UNLIMITED)
            continue;
        uint64_t key = (uint64_t)(place * QOS_LIMITS + i) << 32 | name[i];
        uint32_t counter = id_index_find(limits->of_names, key);
        if (counter == INDEX_NONE) {
            counter = new_counter(limits, most[i], INDEX_NONE);
            id_index_add(limits->of_names, key, counter);
        }
        accrual_count_in(limits, counter);
        if (bound == INDEX_NONE || (limits->rules.takes_least && most[i] < limits->most[bound]))
            bound = counter;
    }
    return bound;
}

/* Returns the owner for an association and a QOS.  The owner has the counters in which its jobs
 * take slots, and the counter that bounds these jobs. */
static uint32_t accrual_owner_of(struct accrual_limits *limits, uint32_t node, uint32_t qos)
{
    uint32_t fresh = limits->owner_count;
    uint32_t known = id_index_add(limits->of_pairs, (uint64_t)node << 32 | qos, fresh);
    if (known != INDEX_NONE)
        return known;
    limits->count = 0;
    uint32_t bound =
        qos == INDEX_NONE ? INDEX_NONE : count_in_qos(limits, qos, &limits->tree->nodes[node]);
    if (bound == INDEX_NONE)
        bound = limits->counter[node];
    for (uint32_t at = limits->counter[node]; at != INDEX_NONE; at = limits->above[at])
        accrual_count_in(limits, at);
    uint32_t *counters = arena_take(limits->arena, (limits->count + 1) * sizeof *counters);
    for (uint32_t i = 0; i < limits->count; i++)
        counters[i] = limits->counters[i];
    free(limits->counters);
    limits->counters = NULL;
    limits->owners = memory_grown(limits->owners, fresh, sizeof *limits->owners);
    limits->owners[limits->owner_count++] = (struct slots_owner){ counters, limits->count, bound };
    return fresh;
}

static int accrual_compare(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

static int by_array(const void *a, const void *b)
{
    const struct accrual_wait *one = a, *other = b;
    int order = accrual_compare(one->array, other->array);
    if (!order)
        order = accrual_compare(one->submitted, other->submitted);
    /* The remaining tasks of an array keep the id of the array. */
    if (!order && one->array)
        order = (one->id_job == one->array) - (other->id_job == other->array);
    return order ? order : accrual_compare(one->id_job, other->id_job);
}

static int accrual_by_key(const void *a, const void *b)
{
    return accrual_compare(((const struct accrual_wait *)a)->key,
                           ((const struct accrual_wait *)b)->key);
}

static bool is_of_same_array(const struct accrual_wait *one, const struct accrual_wait *other)
{
    return one->array && one->array == other->array && one->submitted == other->submitted;
}

/* Returns, for each wait, the start of the first wait among the tasks that were submitted together.
 * All these tasks age from that time on, although a task becomes eligible again whenever its array
 * is below its own limit.  The caller frees the array. */
static uint64_t *first_of_arrays(const struct accrual *accrual)
{
    uint64_t *first = memory_zeroed(accrual->count + 1, sizeof *first);
    for (size_t from = 0, to; from < accrual->count; from = to) {
        uint64_t since = UINT64_MAX;
        for (to = from; to < accrual->count; to++) {
            const struct accrual_wait *wait = &accrual->waits[to];
            if (to > from && !is_of_same_array(wait, wait - 1))
                break;
            since = wait->since < since ? wait->since : since;
        }
        for (size_t i = from; i < to; i++)
            first[i] = since;
    }
    return first;
}

/* slurmctld's sched_interval: the longest time between two scheduling passes. */
#define PASSES_S 60

/* Returns the time from which a wait competes for slots.  This is its start or, for an array that
 * became eligible soon after its submission, the submission.  The scheduling pass that makes the
 * array eligible also hands out slots.  Other jobs become eligible at their submission, but in that
 * pass they rank lower than an array that was submitted earlier. */
static uint64_t races_since(const struct accrual_wait *wait, uint64_t first)
{
    bool is_made_by_pass =
        wait->array && first > wait->submitted && first - wait->submitted <= PASSES_S;
    return is_made_by_pass ? wait->submitted : first;
}

/* Returns the position of a wait in slurmctld's list of jobs; `last` is the position of the
 * previous wait.  A task split off an array stays at the array's position and gets a new id.  The
 * remaining tasks of the array move to the end of the list, after that id.  Tasks that got slots in
 * one pass have consecutive ids. */
static uint64_t accrual_place_of(const struct accrual_wait *wait, const struct accrual_wait *before,
                                 uint64_t last)
{
    if (!wait->array)
        return wait->id_job;
    if (!before || !is_of_same_array(wait, before))
        return wait->array;
    return wait->id_job == before->id_job + 1 ? last : before->id_job;
}

/* The waits with a limit, as input of the replay. */
struct race {
    struct slots slots;
    uint32_t *sources; /* indexes into accrual->waits */
    uint64_t *first;   /* indexed like accrual->waits */
};

/* Adds a wait.  The wait of an array's remaining tasks is sorted last.  When it is added, the other
 * waits of the array get its index. */
static void accrual_enter(struct race *race, const struct accrual *accrual, uint32_t source,
                          uint64_t place, uint32_t owner)
{
    const struct accrual_wait *wait = &accrual->waits[source];
    uint32_t number = (uint32_t)race->slots.count++;
    race->sources[number] = source;
    race->slots.waits[number] =
        (struct slots_wait){ .since = races_since(wait, race->first[source]),
                             .until = wait->until,
                             .place = place,
                             .owner = owner,
                             .is_rest = wait->is_rest,
                             .rest = SLOTS_NO_REST,
                             .pass = race->first[source] };
    if (!wait->is_rest)
        return;
    for (uint32_t i = number + 1; i-- && is_of_same_array(wait, &accrual->waits[race->sources[i]]);)
        race->slots.waits[i].rest = number;
}

/* A wait without a limit ages from its start.  The remaining tasks of an array with a limit do not
 * age, because slurmctld splits off one task for each free slot. */
static void collect(struct race *race, struct accrual *accrual, struct accrual_limits *limits)
{
    uint64_t place = 0;
    for (uint32_t i = 0; i < accrual->count; i++) {
        struct accrual_wait *wait = &accrual->waits[i];
        uint32_t node = tree_place(limits->tree, wait->association);
        place = accrual_place_of(wait, i ? wait - 1 : NULL, place);
        wait->accrues = 0;
        if (node == NO_NODE || limits->tree->nodes[node].id != wait->association)
            continue;
        uint32_t owner = accrual_owner_of(limits, node, place_of_qos(accrual, wait->qos));
        if (!limits->owners[owner].count) {
            wait->accrues = wait->since;
            continue;
        }
        if (wait->is_rest && !limits->rules.hides_tasks)
            continue;
        accrual_enter(race, accrual, i, wait->is_rest ? wait->array : place, owner);
    }
}

/* A wait does not age before it is eligible, and the remaining tasks of an array do not age at
 * all. */
static void take_slots(const struct race *race, struct accrual *accrual)
{
    for (size_t i = 0; i < race->slots.count; i++) {
        if (race->slots.waits[i].is_rest)
            continue;
        uint64_t since = race->slots.waits[i].accrues, first = race->first[race->sources[i]];
        accrual->waits[race->sources[i]].accrues = since && since < first ? first : since;
    }
}

void accrual_replay(struct accrual *accrual, const struct tree *tree, struct accrual_rules rules)
{
    struct accrual_limits limits = { .accrual = accrual,
                                     .tree = tree,
                                     .rules = rules,
                                     .of_names = id_index_create(),
                                     .of_pairs = id_index_create(),
                                     .arena = arena_create() };
    if (accrual->count)
        qsort(accrual->waits, accrual->count, sizeof *accrual->waits, by_array);
    struct race race = {
        .slots.waits = memory_zeroed(accrual->count + 1, sizeof *race.slots.waits),
        .sources = memory_zeroed(accrual->count + 1, sizeof *race.sources),
        .first = first_of_arrays(accrual),
    };
    place_limits(&limits);
    collect(&race, accrual, &limits);
    race.slots.owners = limits.owners;
    race.slots.limits = limits.most;
    race.slots.counter_count = limits.counter_count;
    slots_replay(&race.slots);
    take_slots(&race, accrual);
    if (accrual->count)
        qsort(accrual->waits, accrual->count, sizeof *accrual->waits, accrual_by_key);
    free(race.slots.waits);
    free(race.sources);
    free(race.first);
    accrual_limits_free(&limits);
}

const uint64_t *accrual_since(const struct accrual *accrual, uint64_t key)
{
    const struct accrual_wait wanted = { .key = key };
    const struct accrual_wait *found =
        accrual->count
            ? bsearch(&wanted, accrual->waits, accrual->count, sizeof wanted, accrual_by_key)
            : NULL;
    return found ? &found->accrues : NULL;
}
