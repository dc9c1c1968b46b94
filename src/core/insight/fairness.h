/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_FAIRNESS_H
#define FAIRMILL_CORE_INSIGHT_FAIRNESS_H

#include <stdint.h>

struct tree;
struct values;

/*
 * Measures the fairness of the usage as a whole: how evenly the members use their entitlements.
 *
 * A member's share is the part of the cluster to which it is entitled.  Its usage fraction is its
 * part of all decayed usage.  Let x be a member's usage fraction divided by its share.  Jain's
 * index over n members,
 *
 *     (sum of x)^2 / (n * sum of x^2)
 *
 * is 1 if all x are equal, and 1/n if only one member has usage.
 */

enum fairness_scope {
    FAIRNESS_OF_ACCOUNTS, /* directly below the root, with shares of their own */
    FAIRNESS_OF_USERS,    /* users with shares of their own above 0 on the whole path */
    FAIRNESS_SCOPES,
};
/* Returns the name used in tables and metrics: `accounts` or `users`. */
const char *fairness_scope_name(enum fairness_scope scope);

struct fairness {
    uint32_t members; /* number of members with a share above 0 */
    double jain;      /* 0 to 1; NAN if no member has usage */
    /* Sums of usage fractions and of shares.  `over` is the sum over the members with a usage
     * fraction above their share, and `under` over the members with a usage fraction below their
     * share.  NAN if there is no usage. */
    double use_over, share_over;
    double use_under, share_under;
};

/* Returns the fairness of a tree; `values` must be the values of a run.  The sums are computed in
 * ascending order of id, so that the order of the rows does not change any bit. */
struct fairness fairness_of(const struct tree *tree, const struct values *values,
                            enum fairness_scope scope);

#endif
