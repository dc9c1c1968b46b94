/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_possible.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compute/stepped_usage.h"
#include "core/fairshare/fairshare.h"
#include "report/differences.h"
#include "report/sshare_print.h"
#include "util/memory.h"

/* Lists numbers in ascending order.  After counts_sum(), each number has the number of users who
 * have it or a higher one. */
struct count {
    double number, users;
};
struct counts {
    struct count *list;
    size_t count;
};

static int diff_possible_by_number(const void *a, const void *b)
{
    double one = ((const struct count *)a)->number, other = ((const struct count *)b)->number;
    return (one > other) - (one < other);
}

static void counts_add(struct counts *counts, double number, uint32_t users)
{
    counts->list[counts->count++] = (struct count){ number, users };
}

static void counts_sum(struct counts *counts)
{
    qsort(counts->list, counts->count, sizeof *counts->list, diff_possible_by_number);
    for (size_t i = counts->count; i-- > 1;)
        counts->list[i - 1].users += counts->list[i].users;
}

/* Returns the number of users who have at least `number` or, if `above`, more than `number`. */
static double diff_possible_counts_from(const struct counts *counts, double number, bool above)
{
    size_t from = 0, to = counts->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        double there = counts->list[middle].number;
        if (there < number || (above && there == number))
            from = middle + 1;
        else
            to = middle;
    }
    return from < counts->count ? counts->list[from].users : 0;
}

enum { COUNTS_LOW, COUNTS_HIGH, COUNTS_FIXED, COUNTS_TAKEN, COUNTS };
struct diff_possible_ranks {
    const struct tree *tree;
    const struct values *values;
    const struct usage_bounds *level_fs;
    struct counts counts[COUNTS]; /* numbers of the current siblings */
    double *down, *up; /* indexed by node: maximum number of ranks that it may lose or gain */
};

static uint32_t users_of(const struct node *node)
{
    return node->is_user ? 1 : node->users_below;
}

/* Returns the level_fs from which the ranks were computed. */
static double taken_of(const struct diff_possible_ranks *ranks, uint32_t node)
{
    double level_fs = ranks->values[node].level_fs;
    return isnan(level_fs) ? ranks->level_fs[node].low : level_fs;
}

static void count_member(struct diff_possible_ranks *ranks, uint32_t node)
{
    struct usage_bounds bounds = ranks->level_fs[node];
    uint32_t users = users_of(&ranks->tree->nodes[node]);
    counts_add(&ranks->counts[COUNTS_LOW], bounds.low, users);
    counts_add(&ranks->counts[COUNTS_HIGH], bounds.high, users);
    counts_add(&ranks->counts[COUNTS_TAKEN], taken_of(ranks, node), users);
    if (bounds.low >= bounds.high)
        counts_add(&ranks->counts[COUNTS_FIXED], bounds.low, users);
}

static void bound_member(struct diff_possible_ranks *ranks, uint32_t node)
{
    const struct counts *counts = ranks->counts;
    struct usage_bounds bounds = ranks->level_fs[node];
    double taken = taken_of(ranks, node), same = users_of(&ranks->tree->nodes[node]);
    if (bounds.low >= bounds.high)
        same = diff_possible_counts_from(&counts[COUNTS_FIXED], bounds.low, false) -
               diff_possible_counts_from(&counts[COUNTS_FIXED], bounds.low, true);
    double ahead_at_most =
        diff_possible_counts_from(&counts[COUNTS_HIGH], bounds.low, false) - same;
    double ahead_at_least = diff_possible_counts_from(&counts[COUNTS_LOW], bounds.high, true);
    uint32_t above = ranks->tree->nodes[node].fairshare_parent;
    ranks->down[node] = ranks->down[above] + ahead_at_most -
                        diff_possible_counts_from(&counts[COUNTS_TAKEN], taken, true);
    ranks->up[node] = ranks->up[above] +
                      diff_possible_counts_from(&counts[COUNTS_TAKEN], taken, false) - same -
                      ahead_at_least;
}

static void bound_list(struct diff_possible_ranks *ranks, const struct node *parent)
{
    const uint32_t *list = &ranks->tree->children[parent->first_child];
    for (int i = 0; i < COUNTS; i++)
        ranks->counts[i].count = 0;
    for (uint32_t i = 0; i < parent->child_count; i++)
        count_member(ranks, list[i]);
    for (int i = 0; i < COUNTS; i++)
        counts_sum(&ranks->counts[i]);
    for (uint32_t i = 0; i < parent->child_count; i++)
        bound_member(ranks, list[i]);
}

/*
 * Computes bounds of the users' factors under Fair Tree from bounds of each level_fs.
 *
 * `values` contain ranks for one level_fs of each node.  On the path to a user, siblings whose
 * bounds overlap may be in either order.  If the order of two siblings is reversed, so is the order
 * of all users below them.  Siblings with the same exact level_fs, such as 0 or infinity, keep
 * their order.
 */
static void possible_ranks(const struct tree *tree, const struct values *values,
                           const struct usage_bounds *level_fs, struct usage_bounds *fairshare)
{
    struct diff_possible_ranks ranks = { .tree = tree,
                                         .values = values,
                                         .level_fs = level_fs,
                                         .down = memory_zeroed(tree->count, sizeof(double)),
                                         .up = memory_zeroed(tree->count, sizeof(double)) };
    for (int i = 0; i < COUNTS; i++)
        ranks.counts[i].list = memory_zeroed(tree->count, sizeof(struct count));
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].child_count)
            bound_list(&ranks, &tree->nodes[i]);
    for (uint32_t i = 1; i < tree->count; i++)
        if (values[i].fair_tree_rank)
            fairshare[i] = (struct usage_bounds){
                fmax(values[i].fair_tree_rank - ranks.down[i], 1) / tree->user_count,
                fmin(values[i].fair_tree_rank + ranks.up[i], tree->user_count) / tree->user_count
            };
    for (int i = 0; i < COUNTS; i++)
        free(ranks.counts[i].list);
    free(ranks.down);
    free(ranks.up);
}

/* Relative error from doubles and from sshare's scaling by a million. */
#define ROUNDING 1e-12
/* slurmctld's constant for an unknown number. */
#define NO_VAL 4294967294.

struct diff_possible_finder {
    const struct possible_case *asked;
    struct possible *possible;
    /* Indexed by node; set after the formula was computed: */
    struct usage_bounds *usage, *part, *effective;
};

bool bounds_meet(struct usage_bounds one, struct usage_bounds other)
{
    if (one.low == other.low || one.high == other.high)
        return true;
    double slack = ROUNDING * fmin(fmax(fabs(one.high), fabs(one.low)),
                                   fmax(fabs(other.high), fabs(other.low)));
    return one.low <= other.high + slack && other.low <= one.high + slack;
}

/* Returns the intersection of `bounds` and the printed bounds.  If the intersection is empty, marks
 * the column as wrong and returns the printed bounds. */
static struct usage_bounds diff_possible_narrowed(struct diff_possible_finder *finder,
                                                  uint32_t node, unsigned column,
                                                  struct usage_bounds bounds,
                                                  struct printed_number printed)
{
    struct usage_bounds other = { printed.low, printed.high };
    if (!printed_is_there(&printed))
        return bounds;
    if (!bounds_meet(bounds, other)) {
        finder->possible->wrong[node] |= column;
        return other;
    }
    struct usage_bounds both = { fmax(bounds.low, other.low), fmin(bounds.high, other.high) };
    return both.low <= both.high ? both : other;
}

static struct usage_bounds diff_possible_part_of(struct usage_bounds usage,
                                                 struct usage_bounds whole)
{
    return (struct usage_bounds){
        .low = usage.low > 0 ? fmin(usage.low / whole.high, 1) : 0,
        .high = !(usage.high > 0)        ? 0
                : usage.high < whole.low ? usage.high / whole.low
                                         : 1,
    };
}

static void find_usage(struct diff_possible_finder *finder, const double *lacking, bool known)
{
    for (uint32_t i = 0; i < finder->asked->tree->count; i++) {
        struct usage_bounds bounds = finder->asked->usage[i];
        double low = known ? bounds.low - (lacking ? lacking[i] : 0) : 0;
        finder->usage[i] = (struct usage_bounds){ fmax(low, 0), bounds.high };
    }
}

static struct printed_row diff_possible_row_of(const struct diff_possible_finder *finder,
                                               uint32_t node)
{
    const struct printed_row *row = finder->asked->rows[node];
    return row ? *row : PRINTED_ROW;
}

static void diff_possible_check_shares(struct diff_possible_finder *finder, uint32_t node)
{
    double shares = finder->asked->algorithm->norm_shares(&finder->asked->values[node]);
    if (!isnan(shares))
        diff_possible_narrowed(finder, node, WRONG_NORM_SHARES,
                               (struct usage_bounds){ shares, shares },
                               diff_possible_row_of(finder, node).norm_shares);
}

static void find_part_of_root(struct diff_possible_finder *finder, uint32_t node)
{
    finder->part[node] =
        diff_possible_narrowed(finder, node, WRONG_NORM_USAGE,
                               diff_possible_part_of(finder->usage[node], finder->usage[0]),
                               diff_possible_row_of(finder, node).norm_usage);
}

/* classic: UE = UA + (UEparent - UA) * S / Slevel, or UEparent if no member has shares */
static struct usage_bounds classic_usage(const struct diff_possible_finder *finder, uint32_t node)
{
    const struct tree *tree = finder->asked->tree;
    const struct node *at = &tree->nodes[node];
    struct usage_bounds own = finder->part[node], above = finder->effective[at->fairshare_parent];
    uint32_t level = (uint32_t)level_of(tree, at)->shares; /* slurmctld sums 32-bit integers */
    double shares = level ? (double)at->shares / level : 1;
    return (struct usage_bounds){ own.low + (above.low - own.low) * shares,
                                  own.high + (above.high - own.high) * shares };
}

/* Returns R * rl^k, with k as defined in core/fairshare/depth_oblivious.c. */
static double oblivious_ratio(double parents, double local)
{
    if (!(parents > 0) || !(local > 0))
        return 0;
    double log_parents = log(parents), slope = 5 * log_parents;
    double exponent = log_parents * log(local) >= 0 ? 1 : 1 / (1 + slope * slope);
    return parents * pow(local, exponent);
}

/* Returns bounds of the sum of the siblings' usage, as a fraction of the root's usage.  slurmctld
 * updates a sibling's fraction only when it needs that fraction.  The stored fraction can therefore
 * be old unless usage is steady. */
static struct usage_bounds siblings_part(const struct diff_possible_finder *finder, uint32_t node)
{
    const struct tree *tree = finder->asked->tree;
    const struct node *parent = &tree->nodes[tree->nodes[node].fairshare_parent];
    bool steady = finder->asked->fresh && !(finder->asked->fresh[0] > 0);
    struct usage_bounds sum = { 0, 0 };
    for (uint32_t i = 0; i < parent->child_count; i++) {
        uint32_t sibling = tree->children[parent->first_child + i];
        if (node_has_parent_shares(&tree->nodes[sibling]))
            continue;
        bool own = sibling == node || steady;
        sum.low += own ? finder->part[sibling].low : 0;
        sum.high += own ? finder->part[sibling].high : 1;
    }
    return sum;
}

/* Returns bounds of the effective usage under depth_oblivious, for these bounds of the siblings'
 * usage.  The ratio increases with the parent's usage and the association's own usage, and
 * decreases with the siblings' usage. */
static struct usage_bounds oblivious_between(const struct diff_possible_finder *finder,
                                             uint32_t node, struct usage_bounds siblings)
{
    const struct tree *tree = finder->asked->tree;
    uint32_t above = tree->nodes[node].fairshare_parent;
    double shares = finder->asked->values[node].shares_norm;
    double parents = finder->asked->values[above].shares_norm;
    struct usage_bounds own = finder->part[node];
    if (!(shares > 0) || !(parents > 0))
        return own;
    double low = own.low / shares * parents / siblings.high;
    double high = siblings.low > 0 ? own.high / shares * parents / siblings.low : INFINITY;
    const struct usage_bounds *effective = &finder->effective[above];
    double corners[] = { oblivious_ratio(effective->low / parents, low),
                         oblivious_ratio(effective->high / parents, low),
                         oblivious_ratio(effective->low / parents, high),
                         oblivious_ratio(effective->high / parents, high),
                         oblivious_ratio(effective->low / parents, 1),
                         oblivious_ratio(effective->high / parents, 1) };
    struct usage_bounds usage = { INFINITY, 0 };
    for (size_t i = 0; i < sizeof corners / sizeof *corners - (low <= 1 && high >= 1 ? 0 : 2);
         i++) {
        usage.low = fmin(usage.low, corners[i] * shares);
        usage.high = fmax(usage.high, corners[i] * shares);
    }
    return usage;
}

/* Returns bounds of the effective usage under depth_oblivious.  A sibling's fraction is NO_VAL in
 * slurmctld until sshare or a job needs that fraction.  The ratio is then almost 0. */
static struct usage_bounds oblivious_usage(const struct diff_possible_finder *finder, uint32_t node)
{
    const struct tree *tree = finder->asked->tree;
    const struct printed_number number = diff_possible_row_of(finder, node).effective_usage;
    struct usage_bounds printed = { number.low, number.high };
    struct usage_bounds usage = oblivious_between(finder, node, siblings_part(finder, node));
    if (!printed_is_there(&number) || bounds_meet(usage, printed))
        return usage;
    double siblings = tree->nodes[tree->nodes[node].fairshare_parent].child_count;
    struct usage_bounds unasked =
        oblivious_between(finder, node, (struct usage_bounds){ NO_VAL, siblings * NO_VAL + 1 });
    return bounds_meet(unasked, printed) ? unasked : usage;
}

static void find_effective(struct diff_possible_finder *finder, uint32_t node)
{
    const struct node *at = &finder->asked->tree->nodes[node];
    struct usage_bounds bounds = { 1, 1 };
    if (node && !at->fairshare_parent)
        bounds = finder->part[node];
    else if (node && node_has_parent_shares(at))
        bounds = finder->effective[at->fairshare_parent];
    else if (node && !strcmp(finder->asked->algorithm->name, "classic"))
        bounds = classic_usage(finder, node);
    else if (node)
        bounds = oblivious_usage(finder, node);
    finder->effective[node] =
        node ? diff_possible_narrowed(finder, node, WRONG_EFFECTIVE_USAGE, bounds,
                                      diff_possible_row_of(finder, node).effective_usage)
             : bounds;
}

/* Computes F = 2^-(UE / (S * dampening)); F is 0 without shares. */
static void find_factor(struct diff_possible_finder *finder, uint32_t node)
{
    const struct fairshare_options *options = finder->asked->options;
    double shares = finder->asked->values[node].shares_norm;
    double scale = shares * options->dampening;
    struct usage_bounds usage = finder->effective[node];
    if (has_roots_factor(options, &finder->asked->tree->nodes[node]))
        usage = (struct usage_bounds){ shares, shares };
    finder->possible->fairshare[node] =
        shares > 0 ? (struct usage_bounds){ exp2(-usage.high / scale), exp2(-usage.low / scale) }
                   : (struct usage_bounds){ 0, 0 };
}

static void find_ratios(struct diff_possible_finder *finder)
{
    uint32_t count = finder->asked->tree->count;
    find_usage(finder, finder->asked->fresh, finder->asked->fresh != NULL);
    for (uint32_t i = 0; i < count; i++)
        find_part_of_root(finder, i);
    for (uint32_t i = 0; i < count; i++) {
        diff_possible_check_shares(finder, i);
        find_effective(finder, i);
        if (i)
            find_factor(finder, i);
    }
}

/* Returns bounds of LF = S / U, which is 0 without shares and infinite without usage. */
static struct usage_bounds diff_possible_level_fs_of(struct diff_possible_finder *finder,
                                                     uint32_t node)
{
    const struct node *at = &finder->asked->tree->nodes[node];
    uint32_t above = at->fairshare_parent;
    struct usage_bounds part = diff_possible_part_of(finder->usage[node], finder->usage[above]);
    struct usage_bounds of_root = diff_possible_part_of(finder->part[node], finder->part[above]);
    if (bounds_meet(part, of_root))
        part = (struct usage_bounds){ fmax(part.low, of_root.low), fmin(part.high, of_root.high) };
    else
        finder->possible->wrong[node] |= WRONG_NORM_USAGE;
    part = diff_possible_narrowed(finder, node, WRONG_EFFECTIVE_USAGE, part,
                                  diff_possible_row_of(finder, node).effective_usage);
    if (node_has_parent_shares(at)) {
        double fixed = at->is_user ? INFINITY : NO_VAL;
        return (struct usage_bounds){ fixed, fixed };
    }
    double shares = finder->asked->values[node].level_shares_norm;
    if (!(shares > 0))
        return (struct usage_bounds){ 0, 0 };
    return (struct usage_bounds){ part.high > 0 ? shares / part.high : INFINITY,
                                  part.low > 0 ? shares / part.low : INFINITY };
}

/* If the usage is certain, the level_fs by which slurmctld ranks is certain, too. */
static void fix_certain(const struct diff_possible_finder *finder, uint32_t node,
                        struct usage_bounds *level_fs)
{
    const bool *exact = finder->asked->exact;
    double certain = finder->asked->values[node].level_fs;
    if (exact[node] && exact[finder->asked->tree->nodes[node].fairshare_parent] &&
        bounds_meet(*level_fs, (struct usage_bounds){ certain, certain }))
        *level_fs = (struct usage_bounds){ certain, certain };
}

static void find_ranks(struct diff_possible_finder *finder)
{
    const struct tree *tree = finder->asked->tree;
    struct usage_bounds *level_fs = memory_zeroed(tree->count, sizeof *level_fs);
    find_usage(finder, finder->asked->late, true);
    finder->part[0] = (struct usage_bounds){ 1, 1 };
    for (uint32_t i = 1; i < tree->count; i++)
        find_part_of_root(finder, i);
    for (uint32_t i = 1; i < tree->count; i++) {
        diff_possible_check_shares(finder, i);
        level_fs[i] = diff_possible_level_fs_of(finder, i);
        if (!node_has_parent_shares(&tree->nodes[i]))
            level_fs[i] = diff_possible_narrowed(finder, i, WRONG_LEVEL_FS, level_fs[i],
                                                 diff_possible_row_of(finder, i).level_fs);
        fix_certain(finder, i, &level_fs[i]);
    }
    possible_ranks(tree, finder->asked->values, level_fs, finder->possible->fairshare);
    free(level_fs);
}

/* Slurm has no formula for other algorithms, so only fairmill's own values are possible. */
static void take_ours(struct diff_possible_finder *finder)
{
    for (uint32_t i = 1; i < finder->asked->tree->count; i++) {
        double ours = finder->asked->algorithm->factor(&finder->asked->values[i]);
        finder->possible->fairshare[i] = (struct usage_bounds){ ours, ours };
    }
}

void possible_find(struct possible *possible, const struct possible_case *asked)
{
    uint32_t count = asked->tree->count;
    struct diff_possible_finder finder = {
        .asked = asked,
        .possible = possible,
        .usage = memory_zeroed(count, sizeof *finder.usage),
        .part = memory_zeroed(count, sizeof *finder.part),
        .effective = memory_zeroed(count, sizeof *finder.effective),
    };
    possible->fairshare = memory_zeroed(count, sizeof *possible->fairshare);
    possible->wrong = memory_zeroed(count, sizeof *possible->wrong);
    for (uint32_t i = 0; i < count; i++)
        possible->fairshare[i] = (struct usage_bounds){ NAN, NAN };
    if (asked->algorithm->ranks_users)
        find_ranks(&finder);
    else if (!strcmp(asked->algorithm->name, "classic") ||
             !strcmp(asked->algorithm->name, "depth_oblivious"))
        find_ratios(&finder);
    else
        take_ours(&finder);
    free(finder.usage);
    free(finder.part);
    free(finder.effective);
}

void possible_free(struct possible *possible)
{
    free(possible->fairshare);
    free(possible->wrong);
}
