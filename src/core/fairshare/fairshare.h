/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_FAIRSHARE_H
#define FAIRMILL_CORE_FAIRSHARE_FAIRSHARE_H

#include "core/fairshare/algorithm.h"

/* Every fairshare value of every association (SPEC 4), by the algorithms of one table.  All of them
 * are computed in every run. */

/* All of them, ended by NULL; and the one of a name (NULL if none). */
extern const struct algorithm *const algorithms[];
const struct algorithm *algorithm_named(const char *name);

/* Compute every value of a tree whose usage was rolled up.  `values` has room for tree->count. */
void fairshare_compute(const struct tree *tree, const struct fairshare_options *options,
                       struct values *values);
/* Likewise, of one algorithm only and the values that all of them read. */
void fairshare_compute_one(const struct tree *tree, const struct fairshare_options *options,
                           const struct algorithm *algorithm, struct values *values);
/* Of a tree of any usage the values that come from shares alone: shares_norm, level_shares_norm. */
void fairshare_compute_shares(const struct tree *tree, const struct fairshare_options *options,
                              struct values *values);

#endif
