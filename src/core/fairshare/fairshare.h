/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_FAIRSHARE_H
#define FAIRMILL_CORE_FAIRSHARE_FAIRSHARE_H

#include "core/fairshare/algorithm.h"

/* Computes all fairshare values of all associations.  Every run computes the values of all
 * algorithms. */

/* All algorithms; ends with NULL. */
extern const struct algorithm *const algorithms[];
/* Returns the algorithm with this name, or NULL. */
const struct algorithm *algorithm_named(const char *name);

/* Computes every value of a tree.  tree_roll_up_usage() must have been called.  `values` has room
 * for tree->count elements. */
void fairshare_compute(const struct tree *tree, const struct fairshare_options *options,
                       struct values *values);
/* Computes the common values and the values of one algorithm.  Requirements are as for
 * fairshare_compute(). */
void fairshare_compute_one(const struct tree *tree, const struct fairshare_options *options,
                           const struct algorithm *algorithm, struct values *values);
/* Computes only shares_norm and level_shares_norm.  The tree's usage is not read. */
void fairshare_compute_shares(const struct tree *tree, const struct fairshare_options *options,
                              struct values *values);

#endif
