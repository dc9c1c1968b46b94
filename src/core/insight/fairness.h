/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_FAIRNESS_H
#define FAIRMILL_CORE_INSIGHT_FAIRNESS_H

#include <stdint.h>

struct tree;
struct values;

/* How fair use is as a whole: whether all have used the same part of what is due to them.
 *
 * A member's share is the part of the cluster that is due to it, its use the part of all decayed
 * usage that it has.  Jain's index of x = use / share over n members,
 *
 *     (sum of x)^2 / (n x sum of x^2)
 *
 * is 1 where all x are the same, and 1/n where only one member has used anything. */

enum fairness_scope {
    FAIRNESS_OF_ACCOUNTS, /* right below the root, in its list, with shares of their own */
    FAIRNESS_OF_USERS,    /* all users with shares of their own above 0 on the whole way */
    FAIRNESS_SCOPES,
};
/* As tables and metrics have it: `accounts`, `users`. */
const char *fairness_scope_name(enum fairness_scope scope);

struct fairness {
    uint32_t members; /* whose share is above 0 */
    double jain;      /* 0 to 1; NAN where none of them has used anything */
    /* Those whose use is above their share, and those below: their part of all use, and of what
     * is due; NAN where nothing was used. */
    double use_over, share_over;
    double use_under, share_under;
};

/* `values` are those that a run computed of the tree.  The sums go by ascending id, so that the
 * same associations give the same bits whatever the order of their rows. */
struct fairness fairness_of(const struct tree *tree, const struct values *values,
                            enum fairness_scope scope);

#endif
