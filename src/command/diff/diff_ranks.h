/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_RANKS_H
#define FAIRMILL_COMMAND_DIFF_RANKS_H

#include <stdint.h>

struct tree;
struct usage_bounds;
struct values;

/* Which factors users can have under Fair Tree, where each level_fs is only known to be within
 * bounds.
 *
 * `values` have ranks for one level_fs each.  On the way down to a user, siblings that are ahead
 * there may be behind, and the other way round, as far as bounds overlap; all users below them
 * change places with this one.  Those with one and the same level_fs (none, or without end) stay as
 * they are. */
void possible_ranks(const struct tree *tree, const struct values *values,
                    const struct usage_bounds *level_fs, struct usage_bounds *fairshare);

#endif
