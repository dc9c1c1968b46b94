/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_LINEAGE_H
#define FAIRMILL_CORE_LINEAGE_H

#include <stdint.h>

struct names;
struct tree;

/* Give a tree the order in which slurmctld visits what is tied, made from names: bytewise by
 * lineage that is depth first, siblings by their own part of it. */
void tree_order_by_lineage(struct tree *tree, const struct names *names);

/* By node: how many nodes come before it in the order that the tree has. */
uint32_t *tree_places_in_order(const struct tree *tree);

#endif
