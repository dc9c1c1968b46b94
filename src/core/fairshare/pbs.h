/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_PBS_H
#define FAIRMILL_CORE_FAIRSHARE_PBS_H

#include <stdint.h>

struct fairshare;

/* Values that OpenPBS's `pbsfs` shows and compares in addition to the algorithm's values. */

/* Returns every node's usage as pbsfs shows it, including the minimum usage if it is set.  The
 * caller frees the array. */
struct wide *pbs_usage(const struct fairshare *fairshare);
/* Returns usage divided by target as pbsfs shows it, or -1 if there is no target. */
double pbs_quotient(double usage, double target);
/* Compares how deserving two nodes are, as pbsfs does.  Returns a negative number if `one` is more
 * deserving, 0 if they are tied, or a positive number if `other` is more deserving.  Compares the
 * quotients of the two nodes where the paths from the root first differ, and continues downwards
 * while they are tied.  A node without a target is less deserving than a node with a target.
 * `usage` is indexed by node. */
int pbs_compare(const struct fairshare *fairshare, const struct wide *usage, uint32_t one,
                uint32_t other);
/* Returns, for each user, 1 + the number of users that are more deserving according to
 * pbs_compare(), and 0 for each other node.  A user tied with a sibling group is tied with all
 * users in that group, whatever their order.  The caller frees the array. */
uint32_t *pbs_order(const struct fairshare *fairshare);

#endif
