/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "compute/stepped_usage.h"
#include "core/fairshare/fairshare.h"
#include "util/memory.h"

/* Numbers in order, and of each the users that are at it or above. */
struct count {
    double number, users;
};
struct counts {
    struct count *list;
    size_t count;
};

static int by_number(const void *a, const void *b)
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
    qsort(counts->list, counts->count, sizeof *counts->list, by_number);
    for (size_t i = counts->count; i-- > 1;)
        counts->list[i - 1].users += counts->list[i].users;
}

/* The users from a number on; without those at it where `above`. */
static double counts_from(const struct counts *counts, double number, bool above)
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

struct ranks {
    const struct tree *tree;
    const struct values *values;
    const struct usage_bounds *level_fs;
    struct counts lows, highs, fixed, taken; /* of the list at hand */
    double *down, *up;                       /* by node: how many ranks it may lose, or win */
};

static uint32_t users_of(const struct node *node)
{
    return node->is_user ? 1 : node->users_below;
}

/* The level_fs that the ranks were made with. */
static double taken_of(const struct ranks *ranks, uint32_t node)
{
    double level_fs = ranks->values[node].level_fs;
    return isnan(level_fs) ? ranks->level_fs[node].low : level_fs;
}

static void count_member(struct ranks *ranks, uint32_t node)
{
    struct usage_bounds bounds = ranks->level_fs[node];
    uint32_t users = users_of(&ranks->tree->nodes[node]);
    counts_add(&ranks->lows, bounds.low, users);
    counts_add(&ranks->highs, bounds.high, users);
    counts_add(&ranks->taken, taken_of(ranks, node), users);
    if (bounds.low >= bounds.high)
        counts_add(&ranks->fixed, bounds.low, users);
}

static void bound_member(struct ranks *ranks, uint32_t node)
{
    struct usage_bounds bounds = ranks->level_fs[node];
    double taken = taken_of(ranks, node), same = users_of(&ranks->tree->nodes[node]);
    if (bounds.low >= bounds.high)
        same = counts_from(&ranks->fixed, bounds.low, false) -
               counts_from(&ranks->fixed, bounds.low, true);
    double ahead_at_most = counts_from(&ranks->highs, bounds.low, false) - same;
    double ahead_at_least = counts_from(&ranks->lows, bounds.high, true);
    uint32_t above = ranks->tree->nodes[node].fairshare_parent;
    ranks->down[node] =
        ranks->down[above] + ahead_at_most - counts_from(&ranks->taken, taken, true);
    ranks->up[node] =
        ranks->up[above] + counts_from(&ranks->taken, taken, false) - same - ahead_at_least;
}

static void bound_list(struct ranks *ranks, const struct node *parent)
{
    const uint32_t *list = &ranks->tree->children[parent->first_child];
    ranks->lows.count = ranks->highs.count = ranks->fixed.count = ranks->taken.count = 0;
    for (uint32_t i = 0; i < parent->child_count; i++)
        count_member(ranks, list[i]);
    counts_sum(&ranks->lows);
    counts_sum(&ranks->highs);
    counts_sum(&ranks->fixed);
    counts_sum(&ranks->taken);
    for (uint32_t i = 0; i < parent->child_count; i++)
        bound_member(ranks, list[i]);
}

void possible_ranks(const struct tree *tree, const struct values *values,
                    const struct usage_bounds *level_fs, struct usage_bounds *fairshare)
{
    struct ranks ranks = { tree,
                           values,
                           level_fs,
                           { memory_zeroed(tree->count, sizeof(struct count)), 0 },
                           { memory_zeroed(tree->count, sizeof(struct count)), 0 },
                           { memory_zeroed(tree->count, sizeof(struct count)), 0 },
                           { memory_zeroed(tree->count, sizeof(struct count)), 0 },
                           memory_zeroed(tree->count, sizeof(double)),
                           memory_zeroed(tree->count, sizeof(double)) };
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].child_count)
            bound_list(&ranks, &tree->nodes[i]);
    for (uint32_t i = 1; i < tree->count; i++)
        if (values[i].fair_tree_rank)
            fairshare[i] = (struct usage_bounds){
                fmax(values[i].fair_tree_rank - ranks.down[i], 1) / tree->user_count,
                fmin(values[i].fair_tree_rank + ranks.up[i], tree->user_count) / tree->user_count
            };
    free(ranks.lows.list);
    free(ranks.highs.list);
    free(ranks.fixed.list);
    free(ranks.taken.list);
    free(ranks.down);
    free(ranks.up);
}
