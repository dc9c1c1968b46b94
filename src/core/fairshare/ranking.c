/* SPDX-License-Identifier: MIT */
#include "core/fairshare/ranking.h"

#include <math.h>
#include <stdlib.h>

#include "core/fairshare/algorithm.h"
#include "util/memory.h"

struct ranked {
    double factor;
    uint32_t node;
};

static int by_factor(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    return (one->factor < other->factor) - (one->factor > other->factor);
}

uint32_t *user_ranks(const struct tree *tree, const struct values *values,
                     const struct algorithm *algorithm)
{
    uint32_t *ranks = memory_zeroed(tree->count, sizeof *ranks), count = 0;
    struct ranked *users = memory_zeroed(tree->count, sizeof *users);
    for (uint32_t i = 0; i < tree->count; i++) {
        double factor = algorithm->factor(&values[i]);
        if (tree->nodes[i].is_user && !isnan(factor))
            users[count++] = (struct ranked){ factor, i };
    }
    qsort(users, count, sizeof *users, by_factor);
    for (uint32_t i = 0, better = 0; i < count; i++) {
        if (i && users[i].factor < users[i - 1].factor)
            better = i;
        ranks[users[i].node] = tree->user_count - better;
    }
    free(users);
    return ranks;
}

uint32_t user_rank(const struct tree *tree, const struct values *values,
                   const struct algorithm *algorithm, uint32_t node)
{
    double factor = algorithm->factor(&values[node]);
    uint32_t better = 0;
    if (!tree->nodes[node].is_user || isnan(factor))
        return 0;
    for (uint32_t i = 0; i < tree->count; i++)
        better += tree->nodes[i].is_user && algorithm->factor(&values[i]) > factor;
    return tree->user_count - better;
}
