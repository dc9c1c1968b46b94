/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_TREE_H
#define FAIRMILL_CORE_TREE_TREE_H

#include <stdint.h>

#include "core/number/wide.h"
#include "core/tree/association.h"

struct error;
struct findings;

/* The association tree.
 *
 * One array, parents before children: usage flows up in one backward loop, shares flow down in
 * one forward loop, nothing recurses on depth.  Usage sums along the parents that the source
 * names; shares are divided among the children of the fairshare parent, which is the nearest
 * ancestor that does not have `parent` shares (facts of Slurm 1.0, 1.1). */

struct node {
    uint32_t id;
    uint32_t account, user, partition;
    uint32_t parent;           /* NO_NODE for the root */
    uint32_t fairshare_parent; /* likewise */
    uint32_t depth;            /* the root's is 0 */
    int32_t shares;            /* never negative; SHARES_PARENT */
    uint32_t first_child;      /* in tree->children: the list whose fairshare parent this is */
    uint32_t child_count;
    uint32_t users_below; /* user associations in that list and below */
    uint32_t level;       /* in tree->levels; NO_NODE for a user association */
    uint32_t order;
    bool is_user;
    bool usage_is_set; /* its usage began with an amount that a person or OpenPBS's file gave */
    struct wide usage; /* charged to itself; after tree_roll_up_usage() with all below */
};

/* The children of one fairshare parent, summed.  `parent` accounts are left out: their children
 * are members themselves. */
struct level {
    uint64_t shares;          /* of those whose shares are not `parent` */
    struct wide usage;        /* `parent` users count */
    struct wide sharer_usage; /* they don't */
};

struct tree {
    struct node *nodes; /* nodes[0] is the root */
    uint32_t count;
    uint32_t user_count; /* live user associations: N of Fair Tree */
    uint32_t *by_id;     /* the nodes in the order of their ids */
    uint32_t *children;
    struct level *levels;
    uint32_t level_count;
    struct id_index *places; /* association id -> the node that its usage is charged to */
};

/* Build the tree; the rows are sorted by id.  ERROR_DATA names the ids where a parent is missing, a
 * cycle, two roots, no root or duplicates are found.  With BAD_ROWS_SKIP such a row, or all of a
 * cycle, is left out with all below it and has one finding; no root, or two roots of which not
 * exactly one is named `root`, still fails. */
int tree_build(struct tree **tree, const struct associations *associations, enum bad_rows bad_rows,
               struct findings *findings, struct error *err);
void tree_destroy(struct tree *tree);

/* The node that usage of this association id is charged to: itself, or the nearest living
 * ancestor of a deleted one; NO_NODE where there is none. */
uint32_t tree_place(const struct tree *tree, uint64_t id);

/* By node, whether it is `top` or below it. */
void tree_mark_below(const struct tree *tree, uint32_t top, bool *below);

/* Add every node's own usage (below 0 counts as 0) to all its ancestors, then sum the levels.
 * ERROR_DATA where a sum leaves the integers' range. */
int tree_roll_up_usage(struct tree *tree, struct error *err);
/* Sum the levels' usage anew, of nodes whose usage has all below it already; false where a sum
 * leaves the integers' range. */
bool tree_sum_levels(struct tree *tree);

/* The nodes from the root to one, along fairshare parents (`parent` accounts are skipped) or along
 * the parents that usage sums along. */
struct path {
    uint32_t *nodes; /* nodes[0] is the root */
    uint32_t count;
};
struct path path_to(const struct tree *tree, uint32_t node, bool fairshare);
void path_free(struct path *path);

bool node_has_parent_shares(const struct node *node);

struct names;
struct tree;

/* Give a tree the order in which slurmctld visits what is tied, made from names: bytewise by
 * lineage that is depth first, siblings by their own part of it. */
void tree_order_by_lineage(struct tree *tree, const struct names *names);

/* By node: how many nodes come before it in the order that the tree has. */
uint32_t *tree_places_in_order(const struct tree *tree);

#endif
