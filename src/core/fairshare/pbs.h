/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_PBS_H
#define FAIRMILL_CORE_FAIRSHARE_PBS_H

#include <stdint.h>

struct fairshare;

/* What OpenPBS's `pbsfs` prints and compares besides the values of the algorithm. */

/* Every node's usage as pbsfs counts it, with the minimum if there is one.  To be freed. */
struct wide *pbs_usage(const struct fairshare *fairshare);
/* usage / target as pbsfs has it: -1 where there is no target. */
double pbs_quotient(double usage, double target);
/* Below 0, 0 or above it, as pbsfs has `one` more, equally or less deserving than `other`.  Their
 * paths from the root are compared where they first differ, by the quotients of the two members
 * there.  A member without a target loses.  `usage` is by node. */
int pbs_compare(const struct fairshare *fairshare, const struct wide *usage, uint32_t one,
                uint32_t other);
/* By node: 1 + how many users are more deserving than a user, by pbs_compare(); 0 for all others.
 * A user who equals a group beside him equals all who are in it, whoever is ahead of whom there.
 * To be freed. */
uint32_t *pbs_order(const struct fairshare *fairshare);

#endif
