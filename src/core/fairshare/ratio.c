/* SPDX-License-Identifier: MIT */
#include "core/fairshare/ratio.h"

#include <math.h>
#include <stdlib.h>

#include "core/number/floating.h"
#include "core/number/fraction.h"
#include "util/memory.h"

/* ratio_next() computes the ratios from the root down.  An account's sums have 128 bits.  If 128
 * bits do not determine the nearest double, exact_ratio() computes the fraction from the nodes on
 * the path.  contest_decide() sorts all nodes by their 128-bit ratios; ratio_compare_exactly()
 * decides between ratios that are too close. */

/* ---- order ---- */

static int ratio_by_value(const void *a, const void *b, void *context)
{
    const struct contest *contest = context;
    const struct contender *one = a, *other = b;
    int order = floating_compare(one->value, other->value);
    if (order)
        return contest->higher_is_ahead ? -order : order;
    return (one->node > other->node) - (one->node < other->node);
}

static int by_integers(const void *a, const void *b, void *context)
{
    const struct contest *contest = context;
    const struct contender *one = a, *other = b;
    int order = contest->compare(contest->context, one->node, other->node);
    return order ? order : (one->node > other->node) - (one->node < other->node);
}

/* Returns the index after a group of values that 128 bits cannot reliably order.  Each value of the
 * group is within the error bound of its predecessor. */
static uint32_t end_of_cluster(const struct contest *contest, uint32_t from)
{
    uint32_t end = from + 1;
    while (end < contest->count &&
           (contest->unknown || floating_is_near(contest->list[end - 1].value,
                                                 contest->list[end].value, contest->units)))
        end++;
    return end;
}

/* Sets order[node] for the nodes in such a group.  Usually all of them are tied, so at first each
 * node is compared exactly only with its predecessor.  If a node is out of order, the group is
 * sorted. */
static void decide_cluster(struct contest *contest, uint32_t from, uint32_t end, uint32_t *order)
{
    struct contender *list = contest->list;
    bool sorted = false;
    for (uint32_t i = from, ahead = from; i < end; i++) {
        int side =
            i == from ? 0 : contest->compare(contest->context, list[i - 1].node, list[i].node);
        if (side > 0 && !sorted) {
            qsort_r(list + from, end - from, sizeof *list, by_integers, contest);
            sorted = true;
            i = ahead = from;
        } else if (side) {
            ahead = i;
        }
        order[list[i].node] = ahead + 1;
    }
}

void contest_decide(struct contest *contest, const struct tree *tree, uint32_t *order)
{
    for (uint32_t i = 1; i < tree->count; i++)
        order[i] = contest->count + 1;
    qsort_r(contest->list, contest->count, sizeof *contest->list, ratio_by_value, contest);
    for (uint32_t from = 0, end; from < contest->count; from = end) {
        end = end_of_cluster(contest, from);
        decide_cluster(contest, from, end, order);
    }
}

/* Values of an account that its fairshare children need. */
struct ratio_account {
    struct floating sum;     /* UE / S */
    struct floating inverse; /* 1 / (S * T) */
    uint64_t shares;         /* list_shares() of the account */
    double ratio;
    uint32_t source; /* the node that defines the ratio: itself or an ancestor */
    bool barren;     /* S is 0 */
    bool odd;        /* shares exceed the level's sum, which slurmctld truncated to 32 bits */
};

struct ratios {
    const struct fairshare *fairshare;
    const struct tree *tree;
    const struct wide *usage;
    struct ratio_account *accounts; /* indexed by level */
    struct wide total;              /* T, or one unit if T is 0, because no node has usage */
    bool used;                      /* T is not 0 */
    bool odd;                       /* at least one node has more shares than its level */
    bool by_rules;                  /* ratios of classic, with the release's rules */
};

/* A node and the inputs of its ratio. */
struct ratio_member {
    const struct node *node;
    const struct wide *usage;
    const struct ratio_account *above;
    uint64_t shares, of_level;
    bool top;      /* directly below the root */
    bool inherits; /* `parent` shares, not at the top */
};

static inline struct ratio_member ratio_member_of(const struct ratios *ratios, uint32_t i)
{
    const struct node *nodes = ratios->tree->nodes, *node = &nodes[i];
    const struct ratio_account *above = &ratios->accounts[nodes[node->fairshare_parent].level];
    bool parent = node_has_parent_shares(node), top = node->fairshare_parent == 0;
    const struct wide *usage = ratios->usage ? &ratios->usage[i] : &node->usage;
    if (ratios->by_rules && has_roots_factor(ratios->fairshare->options, node))
        usage = &ratios->total;
    return (struct ratio_member){
        .node = node,
        .usage = usage,
        .above = above,
        .shares = parent ? 1 : (uint64_t)node->shares,
        .of_level = parent ? 1 : above->shares,
        .top = top,
        .inherits = parent && !top,
    };
}

static inline bool is_barren(const struct ratio_member *member)
{
    return member->above->barren || !member->shares || !member->of_level;
}

/* Returns true if the ratio equals the ratio of the account above. */
static inline bool ratio_is_like_parent(const struct ratio_member *member)
{
    return member->inherits ||
           (!member->top && (wide_is_zero(member->usage) || member->shares == member->of_level));
}

static bool ratio_is_odd(const struct ratio_member *member)
{
    return member->above->odd || member->shares > member->of_level;
}

/* Returns UE / S of a member with 128 bits, computed from the sum of the account above. */
static inline struct floating ratio_sum_of(const struct ratio_member *member)
{
    const struct ratio_account *above = member->above;
    if (ratio_is_like_parent(member))
        return above->sum;
    uint64_t rest = member->of_level - (member->top ? 0 : member->shares);
    struct floating own =
        floating_product(floating_of_sum(member->usage), floating_times(above->inverse, rest));
    return floating_sum(above->sum, floating_divided(own, member->shares));
}

/* Returns the error bound of a sum at this depth, in units of its mantissa.  On the way down, sums
 * are truncated three times per level and a few times at the end, each time by less than 2^-126. */
static uint128 ratio_units_at(uint32_t depth)
{
    return 16 * (uint128)depth + 128;
}

/* ---- the fraction ---- */

/* Adds a member that is above all members in the fraction: fraction = u * (L - s) / s + fraction *
 * L / s. */
static void ratio_add_member(const struct ratios *ratios, uint32_t i, struct fraction *fraction)
{
    struct ratio_member member = ratio_member_of(ratios, i);
    struct fraction own;
    int64_t rest = (int64_t)(member.of_level - (member.top ? 0 : member.shares));
    if (member.inherits)
        return;
    fraction_start(&own, 0);
    fraction_set_sum(&own, member.usage);
    fraction_scale(&own, rest, 1);
    fraction_scale(fraction, (int64_t)member.of_level, 1);
    fraction_add(fraction, &own);
    fraction_scale(fraction, 1, member.shares);
    fraction_free(&own);
}

/* Returns the part of T * UE / S that comes from the nodes of a path from index `from` on.  The
 * result is multiplied by S of the node above `from`. */
static struct fraction fraction_from(const struct ratios *ratios, const struct path *path,
                                     uint32_t from)
{
    struct fraction fraction;
    fraction_start(&fraction, 0);
    for (uint32_t i = path->count; i-- > from;)
        ratio_add_member(ratios, path->nodes[i], &fraction);
    return fraction;
}

static double exact_ratio(const struct ratios *ratios, uint32_t i)
{
    if (!ratios->used)
        return 0;
    struct path path = path_to(ratios->tree, i, true);
    struct fraction fraction = fraction_from(ratios, &path, 1), total;
    fraction_start(&total, 0);
    fraction_set_sum(&total, &ratios->total);
    fraction_divide(&fraction, &total);
    double ratio = fraction_to_double(&fraction);
    fraction_free(&fraction);
    fraction_free(&total);
    path_free(&path);
    return ratio;
}

/* Returns true if two different members add the same amount to equal sums above them. */
static bool ratio_is_alike(const struct ratio_member *one, const struct ratio_member *other)
{
    return wide_is_equal(one->usage, other->usage) && one->inherits == other->inherits &&
           (uint128)one->shares * other->of_level == (uint128)other->shares * one->of_level;
}

/* Returns the length of the longest common prefix, from the root on, with equal sums. */
static uint32_t common_part(const struct ratios *ratios, const struct path *a, const struct path *b)
{
    uint32_t at = 0;
    for (; at < a->count && at < b->count; at++) {
        if (a->nodes[at] == b->nodes[at])
            continue;
        struct ratio_member one = ratio_member_of(ratios, a->nodes[at]),
                            other = ratio_member_of(ratios, b->nodes[at]);
        if (!ratio_is_alike(&one, &other))
            break;
    }
    return at;
}

static int compare_fractions(const struct ratios *ratios, uint32_t one, uint32_t other)
{
    struct path a = path_to(ratios->tree, one, true), b = path_to(ratios->tree, other, true);
    uint32_t from = common_part(ratios, &a, &b);
    struct fraction first = fraction_from(ratios, &a, from);
    struct fraction second = fraction_from(ratios, &b, from);
    int order = fraction_compare(&first, &second);
    fraction_free(&first);
    fraction_free(&second);
    path_free(&a);
    path_free(&b);
    return order;
}

/* Compares two members of the same level.  Everything above them cancels. */
static int ratio_compare_siblings(const struct ratio_member *one, const struct ratio_member *other)
{
    struct natural left = natural_of_wide(one->usage), right = natural_of_wide(other->usage);
    if (!one->top) {
        left = natural_times(&left, one->of_level - one->shares);
        right = natural_times(&right, other->of_level - other->shares);
    }
    left = natural_times(&left, other->shares);
    right = natural_times(&right, one->shares);
    return natural_compare(&left, &right);
}

/* Compares two nodes that have shares. */
static int ratio_compare_exactly(const void *context, uint32_t one, uint32_t other)
{
    const struct ratios *ratios = context;
    struct ratio_member first = ratio_member_of(ratios, one),
                        second = ratio_member_of(ratios, other);
    uint32_t source = ratio_is_like_parent(&first) ? first.above->source : one;
    uint32_t others_source = ratio_is_like_parent(&second) ? second.above->source : other;
    if (source == others_source)
        return 0;
    if (source != one || others_source != other)
        return ratio_compare_exactly(ratios, source, others_source);
    if (first.above == second.above && !ratio_is_odd(&first) && !ratio_is_odd(&second) &&
        first.of_level == second.of_level)
        return ratio_compare_siblings(&first, &second);
    return compare_fractions(ratios, one, other);
}

/* ---- all of a tree ---- */

/* Returns the nearest double of the ratio.  The node must have shares on its whole path. */
static inline double rounded(const struct ratios *ratios, const struct ratio_member *member,
                             uint32_t i, struct floating sum)
{
    double nearest;
    if (ratio_is_odd(member) ||
        !floating_rounds(sum, ratio_units_at(member->node->depth), &nearest))
        return exact_ratio(ratios, i);
    return nearest;
}

static double leaf_ratio(struct ratios *ratios, const struct ratio_member *member, uint32_t i)
{
    if (is_barren(member))
        return NAN;
    ratios->odd |= ratio_is_odd(member);
    return ratio_is_like_parent(member) ? member->above->ratio
                                        : rounded(ratios, member, i, ratio_sum_of(member));
}

static void fill_account(struct ratios *ratios, const struct ratio_member *member, uint32_t i)
{
    struct ratio_account *account = &ratios->accounts[member->node->level];
    const struct ratio_account *above = member->above;
    bool alike = ratio_is_like_parent(member);
    *account = (struct ratio_account){ .shares = list_shares(ratios->fairshare, i),
                                       .ratio = NAN,
                                       .barren = is_barren(member) };
    if (account->barren)
        return;
    account->source = alike ? above->source : i;
    account->odd = ratio_is_odd(member);
    ratios->odd |= account->odd;
    if (!account->odd) {
        account->sum = ratio_sum_of(member);
        account->inverse =
            floating_divided(floating_times(above->inverse, member->of_level), member->shares);
    }
    account->ratio = alike ? above->ratio : rounded(ratios, member, i, account->sum);
}

double ratio_next(struct ratios *ratios, uint32_t i)
{
    struct ratio_member member = ratio_member_of(ratios, i);
    if (member.node->level == NO_NODE)
        return leaf_ratio(ratios, &member, i);
    fill_account(ratios, &member, i);
    return ratios->accounts[member.node->level].ratio;
}

struct ratios *ratios_create(const struct fairshare *fairshare, const struct wide *usage)
{
    const struct tree *tree = fairshare->tree;
    struct ratios *ratios = memory_zeroed(1, sizeof *ratios);
    *ratios = (struct ratios){
        .fairshare = fairshare,
        .tree = tree,
        .usage = usage,
        .accounts = memory_zeroed(tree->level_count, sizeof *ratios->accounts),
    };
    ratios->total = usage ? usage[0] : tree->nodes[0].usage;
    ratios->used = !wide_is_zero(&ratios->total);
    if (!ratios->used)
        ratios->total.word[0] = 1;
    ratios->accounts[tree->nodes[0].level] = (struct ratio_account){
        .inverse = floating_quotient(floating_of(1), floating_of_sum(&ratios->total)),
        .shares = list_shares(fairshare, 0),
        .ratio = NAN,
    };
    return ratios;
}

void ratios_destroy(struct ratios *ratios)
{
    if (!ratios)
        return;
    free(ratios->accounts);
    free(ratios);
}

static void ratio_decide(const struct ratios *ratios, uint32_t *order)
{
    const struct tree *tree = ratios->tree;
    struct contest contest = {
        .list = memory_zeroed(tree->count, sizeof *contest.list),
        .unknown = ratios->odd,
        .compare = ratio_compare_exactly,
        .context = ratios,
    };
    uint32_t deepest = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        struct ratio_member member = ratio_member_of(ratios, i);
        if (is_barren(&member) ||
            (ratios->by_rules && has_no_factor(ratios->fairshare->options, member.node)))
            continue;
        deepest = tree->nodes[i].depth > deepest ? tree->nodes[i].depth : deepest;
        contest.list[contest.count++] = (struct contender){ ratio_sum_of(&member), i };
    }
    contest.units = ratio_units_at(deepest);
    contest_decide(&contest, tree, order);
    free(contest.list);
}

static void order_by(struct ratios *ratios, uint32_t *order)
{
    for (uint32_t i = 1; i < ratios->tree->count; i++)
        ratio_next(ratios, i);
    ratio_decide(ratios, order);
    ratios_destroy(ratios);
}

void ratios_order(const struct fairshare *fairshare, const struct wide *usage, uint32_t *order)
{
    order_by(ratios_create(fairshare, usage), order);
}

void ratios_order_by_rules(const struct fairshare *fairshare, uint32_t *order)
{
    struct ratios *ratios = ratios_create(fairshare, NULL);
    ratios->by_rules = true;
    order_by(ratios, order);
    leave_out_by_rules(fairshare, order);
}

const double *fairshare_ratios(struct fairshare *fairshare)
{
    if (fairshare->ratios)
        return fairshare->ratios;
    struct ratios *ratios = ratios_create(fairshare, NULL);
    fairshare->ratios = memory_zeroed(fairshare->tree->count, sizeof *fairshare->ratios);
    for (uint32_t i = 1; i < fairshare->tree->count; i++)
        fairshare->ratios[i] = ratio_next(ratios, i);
    ratios_destroy(ratios);
    return fairshare->ratios;
}

double factor_of_ratio(double ratio, double dampening)
{
    return isnan(ratio) ? 0 : exp2(-ratio / dampening);
}

double factor_by_rules(const struct fairshare *fairshare, uint32_t i, double ratio)
{
    const struct node *node = &fairshare->tree->nodes[i];
    if (has_no_factor(fairshare->options, node))
        return NAN;
    return factor_of_ratio(has_roots_factor(fairshare->options, node) ? 1 : ratio,
                           fairshare->options->dampening);
}

double factor_of_jobs(const struct algorithm *algorithm, const struct fairshare_options *options,
                      const struct node *node, const struct values *values)
{
    bool roots = algorithm->by_rules && options->conformance == CONFORMANCE_SLURMCTLD &&
                 is_led_to_root(node);
    return roots ? factor_of_ratio(1, options->dampening) : algorithm->factor(values);
}
