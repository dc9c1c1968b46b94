/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_ORDER_H
#define FAIRMILL_CORE_ORDER_H

#include "core/tree/tree.h"

/* Who is ahead of whom, and who is equal.
 *
 * Every association is sorted by a number of 128 bits with a known bound of its error.  Where two
 * of these are so near that the bound does not tell them apart, the integers behind them decide. */

struct contender {
    struct floating value;
    uint32_t node;
};

struct contest {
    struct contender *list;
    uint32_t count;
    bool higher_is_ahead;
    uint128 units; /* how many units of its mantissa a value is off, at most */
    bool unknown;  /* values say nothing: ask for every pair */
    /* Below 0, 0 or above it, as `one` is ahead of, equal to or behind `other`. */
    int (*compare)(const void *context, uint32_t one, uint32_t other);
    const void *context;
};

/* Sort the list, and set order[node] for each in it: 1 + how many are ahead of it.  All other nodes
 * but the root are behind them and equal. */
void contest_decide(struct contest *contest, const struct tree *tree, uint32_t *order);

#endif
