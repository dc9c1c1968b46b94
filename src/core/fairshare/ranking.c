/* SPDX-License-Identifier: MIT */
#include "core/fairshare/ranking.h"

#include <stdlib.h>

#include "core/fairshare/algorithm.h"
#include "util/memory.h"

uint32_t *order_of_all(const struct tree *tree, const struct fairshare_options *options,
                       const struct algorithm *algorithm, const struct values *values)
{
    struct fairshare fairshare = { .tree = tree,
                                   .options = options,
                                   .values = (struct values *)values };
    uint32_t *order = memory_zeroed(tree->count, sizeof *order);
    algorithm->decide(&fairshare, order);
    return order;
}

int order_of_pair(const struct tree *tree, const struct fairshare_options *options,
                  const struct algorithm *algorithm, const struct values *values,
                  const uint32_t pair[2])
{
    double one = algorithm->factor(&values[pair[0]]), other = algorithm->factor(&values[pair[1]]);
    if (one != other)
        return one > other ? -1 : 1;
    uint32_t *order = order_of_all(tree, options, algorithm, values);
    uint32_t first = order[pair[0]], second = order[pair[1]];
    free(order);
    return (first > second) - (first < second);
}

uint32_t *user_ranks(const struct tree *tree, const uint32_t *order)
{
    uint32_t *ranks = memory_zeroed(tree->count, sizeof *ranks);
    /* How many users have a place, then how many have a better one. */
    uint32_t *users = memory_zeroed((size_t)tree->count + 1, sizeof *users), better = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        users[order[i]] += tree->nodes[i].is_user && order[i];
    for (uint32_t place = 1; place <= tree->count; place++) {
        uint32_t here = users[place];
        users[place] = better;
        better += here;
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].is_user && order[i])
            ranks[i] = tree->user_count - users[order[i]];
    free(users);
    return ranks;
}
