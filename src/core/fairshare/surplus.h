/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_SURPLUS_H
#define FAIRMILL_CORE_SURPLUS_H

#include "core/fairshare/algorithm.h"

/* The share that an association has not used, by effective usage: S - UE of linear.
 *
 * With D = T UE, u an association's usage, s / L its part of its level's shares,
 *
 *     D = (u (L - s) + Dparent s) / L, right below the root u
 *
 * so that S - UE is a fraction of integers, too.  It is computed and rounded as ratios are
 * (ratio.h). */

/* Of a cluster whose capacity is known. */
struct surpluses *surpluses_create(const struct fairshare *fairshare);
void surpluses_destroy(struct surpluses *surpluses);

/* (S - UE + 1) / 2 of a node that is not the root, kept within 0 and 1, 0 in a level whose shares
 * are all 0; correctly rounded.  All nodes are gone through in the order of the tree. */
double surplus_next(struct surpluses *surpluses, uint32_t node);

/* Fill order[node] of all but the root by that number (order.h); all that have 0 are equal. */
void surpluses_order(const struct fairshare *fairshare, uint32_t *order);

#endif
