/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_LINEAGE_H
#define FAIRMILL_CORE_LINEAGE_H

struct names;
struct tree;

/* Give a tree the order in which slurmctld visits what is tied, made from names: bytewise by
 * lineage that is depth first, siblings by their own part of it. */
void tree_order_by_lineage(struct tree *tree, const struct names *names);

#endif
