/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_LEVEL_ORDER_H
#define FAIRMILL_CORE_FAIRSHARE_LEVEL_ORDER_H

#include "core/tree/tree.h"

struct fairshare_options;

/*
 * Finds the places of many users under Fair Tree, each as if only this user had less usage.
 *
 * Within a level, LF is proportional to shares divided by usage.  Less usage of one user changes
 * this quotient only for the members on the path to the user, so the other members stay sorted.
 * Quotients are doubles here.  If two quotients are tied or too close, the place is unknown, and
 * the caller computes all values instead.
 */

/* Sorts the levels of a tree by the present usage of its nodes.  The caller frees the result with
 * level_orders_destroy(), which accepts NULL.  Keeps a reference to the tree. */
struct level_orders *level_orders_create(const struct tree *tree,
                                         const struct fairshare_options *options);
void level_orders_destroy(struct level_orders *orders);

/* Returns the place of a user if its usage is lower by `less`, or 0 if the place is unknown. */
uint32_t level_orders_place(const struct level_orders *orders, uint32_t user,
                            const struct wide *less);

#endif
