/* SPDX-License-Identifier: MIT */
#include "core/fairshare/pbs.h"

#include <math.h>
#include <stdlib.h>

#include "core/fairshare/algorithm.h"
#include "core/fairshare/ratio.h"
#include "core/fairshare/release.h"
#include "core/number/figure.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * OpenPBS's fairshare_tree_usage and fairshare_factor, from OpenPBS's design document PP-718.
 *
 *     UE = U + (UEparent - U) * (share of the level), directly below the root UE = U
 *     F = 2^-(UE / target), 0 if the target is 0
 *
 * The document defines U as the usage divided by the root's usage.  OpenPBS starts each node with a
 * base usage m.  The usage of a leaf is m plus its charged usage.  The usage of a group is m plus
 * the usage of those leaves that have charged usage.  If the usage of a leaf was set, the amount
 * already includes the base, so the usage is max(amount, m).
 *
 * With a base usage, the share of a level is 0 if the level has no shares or the group above has no
 * target (calc_fair_share_perc in OpenPBS's fairshare.cpp).  In these cases, UE = U.
 */

static struct wide larger(const struct wide *a, const struct wide *b)
{
    struct natural one = natural_of_wide(a), other = natural_of_wide(b);
    return natural_compare(&one, &other) < 0 ? *b : *a;
}

static struct wide usage_of_leaf(const struct node *node, const struct wide *minimum)
{
    struct wide usage = node->usage;
    if (node->usage_is_set)
        return larger(&usage, minimum);
    wide_add(&usage, minimum);
    return usage;
}

/* Returns every node's usage as OpenPBS computes it.  The caller frees the array. */
static struct wide *usage_with_minimum(const struct tree *tree, const struct wide *minimum)
{
    /* First compute the amount that each node adds to its ancestors.  A user with charged usage
     * adds this usage plus the base.  An account adds the usage that it got from deleted users. */
    struct wide *counted = memory_zeroed(tree->count, sizeof *counted);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        counted[i] = node->usage;
        if (i)
            wide_subtract(&counted[node->parent], &node->usage);
    }
    for (uint32_t i = tree->count; i-- > 1;) {
        const struct node *node = &tree->nodes[i];
        if (node->is_user && !wide_is_zero(&node->usage))
            counted[i] = usage_of_leaf(node, minimum);
        wide_add(&counted[node->parent], &counted[i]);
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        if (tree->nodes[i].is_user)
            counted[i] = usage_of_leaf(&tree->nodes[i], minimum);
        else
            wide_add(&counted[i], minimum);
    }
    return counted;
}

/* Returns the usage with the minimum usage, indexed by node, or NULL if there is no minimum
 * usage. */
static struct wide *counted_usage(const struct fairshare *fairshare)
{
    struct wide minimum;
    if (!decay_table_sum_of(fairshare->options->decay, fairshare->options->pbs_minimum_usage,
                            &minimum) ||
        wide_is_zero(&minimum))
        return NULL;
    return usage_with_minimum(fairshare->tree, &minimum);
}

struct wide *pbs_usage(const struct fairshare *fairshare)
{
    const struct tree *tree = fairshare->tree;
    struct wide *usage = counted_usage(fairshare);
    if (usage)
        return usage;
    usage = memory_zeroed(tree->count, sizeof *usage);
    for (uint32_t i = 0; i < tree->count; i++)
        usage[i] = tree->nodes[i].usage;
    return usage;
}

/* Without a minimum usage, the values equal the values of classic; reuse these if they are already
 * computed. */
static void compute_plain(struct fairshare *fairshare)
{
    struct values *values = fairshare->values;
    bool classic_is_there = fairshare->ratios != NULL;
    bool damped = fairshare->options->dampening != 1 ||
                  release_follows(rules_of(fairshare->options), RULE_ROOTS_FACTOR);
    const double *ratios = fairshare_ratios(fairshare);
    for (uint32_t i = 1; i < fairshare->tree->count; i++) {
        const struct values *above = &values[fairshare->tree->nodes[i].fairshare_parent];
        values[i].pbs_tree_usage =
            classic_is_there
                ? values[i].classic_usage
                : effective_usage(fairshare, i, values[i].usage_norm, above->pbs_tree_usage);
        values[i].pbs_factor =
            classic_is_there && !damped ? values[i].classic_factor : factor_of_ratio(ratios[i], 1);
    }
}

static bool has_no_percentage(const struct fairshare *fairshare, uint32_t i)
{
    const struct node *node = &fairshare->tree->nodes[i];
    return !node_has_parent_shares(node) &&
           (!(fairshare->values[node->fairshare_parent].shares_norm > 0) ||
            !level_shares(fairshare, node));
}

static void compute_counted(struct fairshare *fairshare, const struct wide *counted)
{
    struct values *values = fairshare->values;
    struct ratios *ratios = ratios_create(fairshare, counted);
    for (uint32_t i = 1; i < fairshare->tree->count; i++) {
        const struct values *above = &values[fairshare->tree->nodes[i].fairshare_parent];
        double own = wide_quotient(&counted[i], &counted[0]);
        values[i].pbs_tree_usage = has_no_percentage(fairshare, i)
                                       ? own
                                       : effective_usage(fairshare, i, own, above->pbs_tree_usage);
        values[i].pbs_factor = factor_of_ratio(ratio_next(ratios, i), 1);
    }
    ratios_destroy(ratios);
}

static void pbs_fairshare_compute(struct fairshare *fairshare)
{
    struct wide *counted = counted_usage(fairshare);
    fairshare->values[0].pbs_tree_usage = fairshare->values[0].usage_norm;
    fairshare->values[0].pbs_factor = NAN;
    if (counted)
        compute_counted(fairshare, counted);
    else
        compute_plain(fairshare);
    free(counted);
}

static void pbs_fairshare_decide(const struct fairshare *fairshare, uint32_t *order)
{
    struct wide *counted = counted_usage(fairshare);
    ratios_order(fairshare, counted, order);
    free(counted);
}

double pbs_quotient(double usage, double target)
{
    return target > 0 ? usage / target : -1;
}

/* Compares two members of a list by integers.  Both targets come from the same level's shares, so
 * that a tie is exact. */
static int pbs_fairshare_compare_siblings(const struct fairshare *fairshare,
                                          const struct wide *usage, uint32_t one, uint32_t other)
{
    const struct node *nodes = fairshare->tree->nodes;
    struct natural first = natural_of_wide(&usage[one]), second = natural_of_wide(&usage[other]);
    first = natural_times(&first, (uint64_t)nodes[other].shares);
    second = natural_times(&second, (uint64_t)nodes[one].shares);
    return natural_compare(&first, &second);
}

static int compare_members(const struct fairshare *fairshare, const struct wide *usage,
                           uint32_t one, uint32_t other)
{
    const struct node *first = &fairshare->tree->nodes[one];
    const struct node *second = &fairshare->tree->nodes[other];
    double target = fairshare->values[one].shares_norm;
    double against = fairshare->values[other].shares_norm;
    if (!(target > 0) || !(against > 0))
        return (target > 0 ? -1 : 0) + (against > 0 ? 1 : 0);
    if (first->fairshare_parent == second->fairshare_parent && !node_has_parent_shares(first) &&
        !node_has_parent_shares(second))
        return pbs_fairshare_compare_siblings(fairshare, usage, one, other);
    const struct decay_table *decay = fairshare->options->decay;
    double quotient = pbs_quotient(decay_table_usage(decay, &usage[one]), target);
    double other_quotient = pbs_quotient(decay_table_usage(decay, &usage[other]), against);
    return (quotient > other_quotient) - (quotient < other_quotient);
}

int pbs_compare(const struct fairshare *fairshare, const struct wide *usage, uint32_t one,
                uint32_t other)
{
    struct path first = path_to(fairshare->tree, one, true);
    struct path second = path_to(fairshare->tree, other, true);
    int order = 0;
    for (uint32_t at = 0; !order && at < first.count && at < second.count; at++) {
        uint32_t here = first.nodes[at], there = second.nodes[at];
        if (here == there)
            continue;
        order = compare_members(fairshare, usage, here, there);
        /* If neither node has a target, the nodes below them have no target either. */
        if (!(fairshare->values[here].shares_norm > 0))
            break;
    }
    path_free(&first);
    path_free(&second);
    return order;
}

/* ---- the order of all users ---- */

/* Members of `list` whose paths are tied so far.  pbs_order() starts with the children of the root.
 * It sorts each pool and splits the pool into groups of tied members.  The users in a group get
 * their position, and the children of its accounts form a new pool. */
struct pool {
    uint32_t from, count, ahead; /* `ahead` users rank higher than all members */
    bool equal;                  /* the members lack a target, so all nodes below are tied too */
};

struct pbs_fairshare_ordering {
    const struct fairshare *fairshare;
    const struct wide *usage;
    uint32_t *list; /* each node enters only the pool of its group */
    uint32_t used;
    struct pool *pools;
    uint32_t pool_count;
    uint32_t *order;
};

static int by_deserving(const void *a, const void *b, void *context)
{
    const struct pbs_fairshare_ordering *ordering = context;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    int order = compare_members(ordering->fairshare, ordering->usage, one, other);
    return order ? order : (one > other) - (one < other);
}

static void add_members(struct pbs_fairshare_ordering *ordering, uint32_t group)
{
    const struct tree *tree = ordering->fairshare->tree;
    const struct node *node = &tree->nodes[group];
    for (uint32_t i = 0; i < node->child_count; i++)
        ordering->list[ordering->used++] = tree->children[node->first_child + i];
}

/* Handles list[from] to list[end - 1], which are tied.  Users get their position; the members of
 * groups become the next pool.  Returns the number of these users and of the users below these
 * groups. */
static uint32_t place_equals(struct pbs_fairshare_ordering *ordering, const struct pool *pool,
                             uint32_t from, uint32_t end, uint32_t ahead)
{
    const struct node *nodes = ordering->fairshare->tree->nodes;
    const struct values *values = ordering->fairshare->values;
    struct pool next = { .from = ordering->used, .ahead = ahead };
    uint32_t users = 0;
    next.equal = pool->equal || !(values[ordering->list[from]].shares_norm > 0);
    for (uint32_t i = from; i < end; i++) {
        uint32_t member = ordering->list[i];
        users += nodes[member].is_user ? 1 : nodes[member].users_below;
        if (nodes[member].is_user)
            ordering->order[member] = ahead + 1;
        else
            add_members(ordering, member);
    }
    next.count = ordering->used - next.from;
    if (next.count)
        ordering->pools[ordering->pool_count++] = next;
    return users;
}

static void place_pool(struct pbs_fairshare_ordering *ordering, const struct pool *pool)
{
    uint32_t *list = ordering->list, end = pool->from + pool->count, ahead = pool->ahead;
    if (!pool->equal)
        qsort_r(list + pool->from, pool->count, sizeof *list, by_deserving, ordering);
    for (uint32_t from = pool->from, to; from < end; from = to) {
        to = from + 1;
        while (to < end && (pool->equal || !compare_members(ordering->fairshare, ordering->usage,
                                                            list[from], list[to])))
            to++;
        ahead += place_equals(ordering, pool, from, to, ahead);
    }
}

uint32_t *pbs_order(const struct fairshare *fairshare)
{
    uint32_t count = fairshare->tree->count;
    struct wide *usage = pbs_usage(fairshare);
    struct pbs_fairshare_ordering ordering = {
        .fairshare = fairshare,
        .usage = usage,
        .list = memory_zeroed(count, sizeof *ordering.list),
        .pools = memory_zeroed(count + 1, sizeof *ordering.pools),
        .order = memory_zeroed(count, sizeof *ordering.order),
    };
    add_members(&ordering, 0);
    ordering.pools[ordering.pool_count++] = (struct pool){ .count = ordering.used };
    while (ordering.pool_count) {
        const struct pool pool = ordering.pools[--ordering.pool_count];
        place_pool(&ordering, &pool);
    }
    free(usage);
    free(ordering.list);
    free(ordering.pools);
    return ordering.order;
}

VALUES_FIELD(pbs_factor)
VALUES_FIELD(pbs_tree_usage)

static void pbs_fairshare_add_note(struct text *text, const struct fairshare_options *options)
{
    if (!(options->pbs_minimum_usage > 0))
        return;
    text_add(text, "Usage begins at ");
    text_add_figure(text, options->pbs_minimum_usage, SETTING_DIGITS);
    text_add(text, " for each entity and group; charged usage is added.\n");
}

static const struct explain_column columns[] = {
    { "Shares", explain_add_shares },
    { "Target", explain_add_shares_norm },
    { "Usage", explain_add_usage },
    { "U", explain_add_usage_norm },
    { "TreeUsage", explain_add_effective_usage },
    { "F", explain_add_factor },
    { NULL, NULL },
};

const struct algorithm pbs = {
    .name = "pbs",
    .short_name = "pbs",
    .compute = pbs_fairshare_compute,
    .decide = pbs_fairshare_decide,
    .factor = values_pbs_factor,
    .norm_shares = values_shares_norm,
    .effective_usage = values_pbs_tree_usage,
    .of_ratio = true,
    .columns = columns,
    .digits = 8,
    .formulas = "Target = Target above x Shares, U = Usage / Usage of the root\n"
                "TreeUsage = U + (TreeUsage above - U) x Shares, directly below the root U\n"
                "F = 2^-(TreeUsage / Target)\n",
    .add_note = pbs_fairshare_add_note,
    .counted_usage = counted_usage,
};
