/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "core/fairshare/algorithm.h"
#include "core/fairshare/ratio.h"
#include "core/number/figure.h"
#include "core/number/floating.h"
#include "core/number/fraction.h"
#include "core/usage/decay_table.h"
#include "util/memory.h"
#include "util/text.h"

/* ---- surpluses ---- */

/*
 * The surplus of an association in the algorithm `linear`: S - UE, the share that its effective
 * usage leaves unused.
 *
 * Let T be the capacity and D = T * UE.  Let u be an association's usage and s / L its part of its
 * level's shares.  Then
 *
 *     D = (u * (L - s) + Dparent * s) / L, directly below the root D = u
 *
 * S - UE is therefore a fraction of integers.  It is computed and rounded in the same way as ratios
 * (ratio.h): with 128 bits, and exactly if 128 bits do not determine the result.
 */

/* UE of a unit of usage if the capacity is 0. */
static const struct floating too_much = { (uint128)1 << 127, 8192 };

/* Error bound at this depth, in units in the last place (ulp).  Numbers are truncated three times
 * per level, and a few times at the end. */
static uint128 linear_units_at(uint32_t depth)
{
    return 16 * (uint128)depth + 128;
}

/* Values of an account that its fairshare children need. */
struct linear_account {
    struct floating share, used; /* S and UE */
    /* S, UE and UE of a unit of usage, each divided by `shares`. */
    struct floating share_part, used_part, part;
    uint64_t shares; /* list_shares() of the account */
    double factor;
    bool odd; /* shares exceed the level's sum, which slurmctld truncated to 32 bits */
};

struct surpluses {
    const struct fairshare *fairshare;
    const struct tree *tree;
    struct linear_account *accounts; /* indexed by level */
    struct floating of_unit;         /* UE of a unit of D */
};

/* A node and the inputs of its surplus. */
struct linear_member {
    const struct node *node;
    const struct linear_account *above;
    uint64_t shares, of_level;
    bool top;      /* directly below the root */
    bool inherits; /* `parent` shares, not at the top: has the factor of the account above */
};

static inline struct linear_member linear_member_of(const struct surpluses *surpluses, uint32_t i)
{
    const struct node *nodes = surpluses->tree->nodes, *node = &nodes[i];
    const struct linear_account *above = &surpluses->accounts[nodes[node->fairshare_parent].level];
    bool parent = node_has_parent_shares(node), top = node->fairshare_parent == 0;
    return (struct linear_member){
        .node = node,
        .above = above,
        .shares = parent ? 1 : (uint64_t)node->shares,
        .of_level = parent ? 1 : above->shares,
        .top = top,
        .inherits = parent && !top,
    };
}

/* Returns true if S and D equal the values of the account above.  `parent` shares are treated as 1
 * of 1. */
static inline bool linear_is_like_parent(const struct linear_member *member)
{
    return !member->top && member->shares == member->of_level && member->of_level;
}

static bool linear_is_odd(const struct linear_member *member)
{
    return member->above->odd || (member->of_level && member->shares > member->of_level);
}

static inline struct floating share_of(const struct linear_member *member)
{
    if (linear_is_like_parent(member))
        return member->above->share;
    if (!member->of_level)
        return floating_of(0);
    if (node_has_parent_shares(member->node))
        return floating_of(1);
    return floating_times(member->above->share_part, member->shares);
}

static inline struct floating used_of(const struct surpluses *surpluses,
                                      const struct linear_member *member)
{
    const struct linear_account *above = member->above;
    if (linear_is_like_parent(member) || (!member->top && !member->of_level))
        return above->used;
    struct floating usage = floating_of_sum(&member->node->usage);
    if (member->top)
        return floating_product(usage, surpluses->of_unit);
    usage = floating_product(usage, floating_times(above->part, member->of_level - member->shares));
    return floating_sum(usage, floating_times(above->used_part, member->shares));
}

/* ---- the fraction ---- */

/* Returns the exact UE of a unit of usage. */
static struct fraction exact_unit(const struct surpluses *surpluses)
{
    struct fraction unit, capacity;
    uint64_t divisor;
    fraction_start(&unit, 0);
    if (!(surpluses->fairshare->options->capacity > 0)) {
        fraction_set_floating(&unit, too_much);
        return unit;
    }
    fraction_start(&capacity, 0);
    fraction_set_floating(&unit, decay_table_unit(surpluses->fairshare->options->decay, &divisor));
    fraction_scale(&unit, 1, divisor);
    fraction_set_double(&capacity, surpluses->fairshare->options->capacity);
    fraction_divide(&unit, &capacity);
    fraction_free(&capacity);
    return unit;
}

/* Replaces S and D of the account above by S and D of the member. */
static void go_down(const struct linear_member *member, struct fraction *share,
                    struct fraction *used)
{
    struct fraction own;
    if (linear_is_like_parent(member))
        return;
    fraction_start(&own, 0);
    fraction_set_sum(&own, &member->node->usage);
    if (!member->top && member->of_level) {
        fraction_scale(&own, (int64_t)(member->of_level - member->shares), 1);
        fraction_scale(used, (int64_t)member->shares, 1);
        fraction_add(used, &own);
        fraction_scale(used, 1, member->of_level);
    } else if (member->top) {
        fraction_add(used, &own);
    }
    fraction_scale(share, member->of_level ? (int64_t)member->shares : 0,
                   member->of_level ? member->of_level : 1);
    fraction_free(&own);
}

/* Returns (S - UE + 1) / 2, not yet limited to 0..1. */
static struct fraction exact_factor(const struct surpluses *surpluses, const struct path *path)
{
    struct fraction factor, used, unit = exact_unit(surpluses), one;
    fraction_start(&factor, 1);
    fraction_start(&one, 1);
    fraction_start(&used, 0);
    for (uint32_t i = 1; i < path->count; i++) {
        struct linear_member member = linear_member_of(surpluses, path->nodes[i]);
        go_down(&member, &factor, &used);
    }
    fraction_multiply(&used, &unit);
    fraction_subtract(&factor, &used);
    fraction_add(&factor, &one);
    fraction_scale(&factor, 1, 2);
    fraction_free(&used);
    fraction_free(&unit);
    fraction_free(&one);
    return factor;
}

/* Returns the index of the next node on the path, from `at` on, that changes S or D. */
static uint32_t linear_next_change(const struct surpluses *surpluses, const struct path *path,
                                   uint32_t at)
{
    for (; at < path->count; at++) {
        struct linear_member member = linear_member_of(surpluses, path->nodes[at]);
        if (!linear_is_like_parent(&member))
            break;
    }
    return at;
}

static bool linear_is_alike(const struct linear_member *one, const struct linear_member *other)
{
    return wide_is_equal(&one->node->usage, &other->node->usage) &&
           !one->of_level == !other->of_level &&
           (uint128)one->shares * other->of_level == (uint128)other->shares * one->of_level;
}

/* Returns true if two paths have equal inputs, so that their surpluses are equal. */
static bool are_alike(const struct surpluses *surpluses, const struct path *a, const struct path *b)
{
    uint32_t i = linear_next_change(surpluses, a, 1), j = linear_next_change(surpluses, b, 1);
    while (i < a->count && j < b->count) {
        struct linear_member one = linear_member_of(surpluses, a->nodes[i]);
        struct linear_member other = linear_member_of(surpluses, b->nodes[j]);
        if (a->nodes[i] != b->nodes[j] && !linear_is_alike(&one, &other))
            return false;
        i = linear_next_change(surpluses, a, i + 1);
        j = linear_next_change(surpluses, b, j + 1);
    }
    return i == a->count && j == b->count;
}

/* Returns the node whose factor node `i` has.  Nodes with `parent` shares have the factor of the
 * account above. */
static uint32_t linear_owner_of(const struct tree *tree, uint32_t i)
{
    while (node_has_parent_shares(&tree->nodes[i]) && tree->nodes[i].fairshare_parent != 0)
        i = tree->nodes[i].fairshare_parent;
    return i;
}

/* Compares two nodes with equal doubles other than 0. */
static int linear_compare_exactly(const void *context, uint32_t one, uint32_t other)
{
    const struct surpluses *surpluses = context;
    one = linear_owner_of(surpluses->tree, one);
    other = linear_owner_of(surpluses->tree, other);
    if (one == other)
        return 0;
    int order = 0;
    struct path a = path_to(surpluses->tree, one, true), b = path_to(surpluses->tree, other, true);
    if (!are_alike(surpluses, &a, &b)) {
        struct fraction first = exact_factor(surpluses, &a), second = exact_factor(surpluses, &b);
        order = fraction_compare(&second, &first);
        fraction_free(&first);
        fraction_free(&second);
    }
    path_free(&a);
    path_free(&b);
    return order;
}

/* ---- all of a tree ---- */

static double exactly_rounded(const struct surpluses *surpluses, uint32_t i)
{
    struct path path = path_to(surpluses->tree, i, true);
    struct fraction factor = exact_factor(surpluses, &path);
    double nearest = fmin(1, fmax(0, fraction_to_double(&factor)));
    fraction_free(&factor);
    path_free(&path);
    return nearest;
}

/* Sets *nearest to (S - UE + 1) / 2.  Returns false if 128 bits do not determine the nearest
 * double. */
static inline bool round_factor(const struct surpluses *surpluses,
                                const struct linear_member *member, double *nearest)
{
    struct floating whole = floating_sum(floating_of(1), share_of(member));
    struct floating used = used_of(surpluses, member);
    uint128 units = linear_units_at(member->node->depth);
    if (linear_is_odd(member) || floating_is_near(whole, used, units))
        return false;
    *nearest = 0;
    if (floating_compare(whole, used) < 0)
        return true;
    struct floating rest = floating_difference(whole, used);
    /* The absolute error stays the same while the difference gets smaller. */
    int lost = whole.exponent - rest.exponent;
    rest.exponent--;
    return lost < 64 && floating_rounds(rest, 2 * units << lost, nearest);
}

static double linear_factor_of(const struct surpluses *surpluses,
                               const struct linear_member *member, uint32_t i)
{
    double nearest;
    if (!member->of_level)
        return 0;
    if (member->inherits)
        return member->above->factor;
    return round_factor(surpluses, member, &nearest) ? fmin(1, nearest)
                                                     : exactly_rounded(surpluses, i);
}

/* Sets the values of an account that its fairshare children need.  The factor must be set. */
static void fill_list(const struct surpluses *surpluses, struct linear_account *account, uint32_t i)
{
    account->shares = list_shares(surpluses->fairshare, i);
    if (!account->shares)
        return;
    account->share_part = floating_divided(account->share, account->shares);
    account->used_part = floating_divided(account->used, account->shares);
    account->part = floating_divided(surpluses->of_unit, account->shares);
}

/* Returns (S - UE + 1) / 2 of a node other than the root, limited to 0..1 and correctly rounded.
 * Returns 0 in a level without shares.  Must be called for all nodes in tree order. */
static double surplus_next(struct surpluses *surpluses, uint32_t i)
{
    struct linear_member member = linear_member_of(surpluses, i);
    double factor = linear_factor_of(surpluses, &member, i);
    if (member.node->level == NO_NODE)
        return factor;
    struct linear_account *account = &surpluses->accounts[member.node->level];
    *account = (struct linear_account){ .factor = factor, .odd = linear_is_odd(&member) };
    if (!account->odd) {
        account->share = share_of(&member);
        account->used = used_of(surpluses, &member);
    }
    fill_list(surpluses, account, i);
    return factor;
}

/* The cluster's capacity must be known.  The caller frees the result with surpluses_destroy(). */
static struct surpluses *surpluses_create(const struct fairshare *fairshare)
{
    const struct tree *tree = fairshare->tree;
    double capacity = fairshare->options->capacity;
    struct surpluses *surpluses = memory_zeroed(1, sizeof *surpluses);
    uint64_t divisor;
    struct floating unit = decay_table_unit(fairshare->options->decay, &divisor);
    *surpluses = (struct surpluses){
        .fairshare = fairshare,
        .tree = tree,
        .accounts = memory_zeroed(tree->level_count, sizeof *surpluses->accounts),
        .of_unit = too_much,
    };
    if (capacity > 0)
        surpluses->of_unit =
            floating_quotient(floating_divided(unit, divisor), floating_of_double(capacity));
    struct linear_account *root = &surpluses->accounts[tree->nodes[0].level];
    root->share = floating_of(1);
    fill_list(surpluses, root, 0);
    return surpluses;
}

static void surpluses_destroy(struct surpluses *surpluses)
{
    if (!surpluses)
        return;
    free(surpluses->accounts);
    free(surpluses);
}

/* Sets order[node] of all nodes but the root by their factors (contest_decide()).  All nodes with a
 * factor of 0 are tied. */
static void surpluses_order(const struct fairshare *fairshare, uint32_t *order)
{
    const struct tree *tree = fairshare->tree;
    struct surpluses *surpluses = surpluses_create(fairshare);
    struct contest contest = {
        .list = memory_zeroed(tree->count, sizeof *contest.list),
        .higher_is_ahead = true,
        .compare = linear_compare_exactly,
        .context = surpluses,
    };
    for (uint32_t i = 1; i < tree->count; i++) {
        double factor = surplus_next(surpluses, i);
        if (factor > 0)
            contest.list[contest.count++] = (struct contender){ floating_of_double(factor), i };
    }
    contest_decide(&contest, tree, order);
    free(contest.list);
    surpluses_destroy(surpluses);
}

/*
 * The factor as defined in "Multifactor Priority Plugin" of Slurm 2.0, section "The SLURM
 * Fair-Share Formula".
 *
 *     UE as in classic, with usage divided by the cluster's capacity
 *     F = (S - UE + 1) / 2, limited to 0..1; 0 in a level without shares
 */

static void linear_compute(struct fairshare *fairshare)
{
    struct values *values = fairshare->values;
    bool known = !isnan(fairshare->options->capacity);
    struct surpluses *surpluses = known ? surpluses_create(fairshare) : NULL;
    values[0].linear_usage = values[0].capacity_usage;
    values[0].linear_factor = NAN;
    for (uint32_t i = 1; i < fairshare->tree->count; i++) {
        const struct values *above = &values[fairshare->tree->nodes[i].fairshare_parent];
        values[i].linear_usage =
            effective_usage(fairshare, i, values[i].capacity_usage, above->linear_usage);
        values[i].linear_factor = known ? surplus_next(surpluses, i) : NAN;
    }
    surpluses_destroy(surpluses);
}

static void linear_decide(const struct fairshare *fairshare, uint32_t *order)
{
    if (!isnan(fairshare->options->capacity))
        surpluses_order(fairshare, order);
}

VALUES_FIELD(linear_factor)
VALUES_FIELD(linear_usage)

static void add_capacity_usage(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, context_values(context, i)->capacity_usage, context->digits);
}

static void linear_add_note(struct text *text, const struct fairshare_options *options)
{
    if (isnan(options->capacity))
        return;
    text_add(text, "The cluster's capacity is ");
    text_add_figure(text, options->capacity, SETTING_DIGITS);
    text_add(text, " TRES-seconds.\n");
}

static const struct explain_column columns[] = {
    { "Shares", explain_add_shares },
    { "S", explain_add_shares_norm },
    { "Usage", explain_add_usage },
    { "UA", add_capacity_usage },
    { "UE", explain_add_effective_usage },
    { "F", explain_add_factor },
    { NULL, NULL },
};

const struct algorithm linear = {
    .name = "linear",
    .short_name = "linear",
    .compute = linear_compute,
    .decide = linear_decide,
    .factor = values_linear_factor,
    .norm_shares = values_shares_norm,
    .effective_usage = values_linear_usage,
    .columns = columns,
    .digits = 8,
    .formulas = "S = S above x Shares, UA = Usage / capacity\n"
                "UE = UA + (UE above - UA) x Shares, directly below the root UE = UA\n"
                "F = (S - UE + 1) / 2, limited to 0..1\n",
    .add_note = linear_add_note,
};
