/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_RANKING_H
#define FAIRMILL_CORE_RANKING_H

#include <stdint.h>

struct algorithm;
struct fairshare_options;
struct tree;
struct values;

/* Who is ahead of whom, and who is equal, as the algorithm decides it (ratio.h): by node 1 + how
 * many associations are ahead, 0 for those without a factor, which Fair Tree has for users only;
 * to be freed.  All values are there. */
uint32_t *order_of_all(const struct tree *tree, const struct fairshare_options *options,
                       const struct algorithm *algorithm, const struct values *values);
/* Below 0, 0 or above it, as the first of two that have a factor is ahead of the second, equal to
 * it or behind.  Their doubles tell nearly always. */
int order_of_pair(const struct tree *tree, const struct fairshare_options *options,
                  const struct algorithm *algorithm, const struct values *values,
                  const uint32_t pair[2]);

/* The places of users by such an order, as Fair Tree counts them: the best of N has rank N, equal
 * ones share a rank, and who has m better ones has rank N - m.  Of Fair Tree itself these are its
 * ranks.  By node, 0 for accounts and for who has no factor; to be freed. */
uint32_t *user_ranks(const struct tree *tree, const uint32_t *order);

/* The place that people read for such a rank among so many users: 1 is next; 0 for no rank. */
static inline uint32_t place_of_rank(uint32_t rank, uint32_t users)
{
    return rank ? users - rank + 1 : 0;
}

#endif
