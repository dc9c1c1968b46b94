/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_RANKING_H
#define FAIRMILL_CORE_RANKING_H

#include <stdint.h>

struct algorithm;
struct tree;
struct values;

/* The places of users by their factors, as Fair Tree counts them: the best of N has rank N, equal
 * ones share a rank, and who has m better ones has rank N - m.  Of Fair Tree itself these are its
 * ranks.  By node, 0 for accounts and for who has no factor; to be freed. */
uint32_t *user_ranks(const struct tree *tree, const struct values *values,
                     const struct algorithm *algorithm);

/* The rank of one. */
uint32_t user_rank(const struct tree *tree, const struct values *values,
                   const struct algorithm *algorithm, uint32_t node);

#endif
