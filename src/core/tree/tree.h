/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_TREE_H
#define FAIRMILL_CORE_TREE_TREE_H

#include <stdint.h>

#include "core/number/wide.h"
#include "core/tree/association.h"

struct error;
struct findings;

/*
 * The association tree.
 *
 * Nodes are in one array, level by level; siblings are adjacent, in ascending order of id.  So usage
 * is summed up in one backward loop, shares are passed down in one forward loop, and depth needs no
 * recursion.  Usage is summed along the parents in the database.  Shares are divided among the
 * children of the fairshare parent.  The fairshare parent is the nearest ancestor that does not have
 * `parent` shares (assoc_mgr.c, _set_assoc_parent_and_user()).
 */

struct node {
    uint32_t id;
    uint32_t account, user, partition;
    uint32_t parent;           /* NO_NODE for the root */
    uint32_t fairshare_parent; /* NO_NODE for the root */
    uint32_t depth;            /* 0 for the root */
    int32_t shares;            /* not negative; may be SHARES_PARENT */
    uint32_t first_child;      /* in tree->children: start of the list of its fairshare children */
    uint32_t child_count;
    uint32_t users_below; /* number of user associations in that list and below */
    uint32_t level;       /* index in tree->levels; NO_NODE for a user association */
    uint32_t order;       /* see struct association */
    bool is_user;
    bool usage_is_set; /* initial usage was set by the ledger or OpenPBS's usage file */
    struct wide usage; /* own usage; tree_roll_up_usage() adds the usage of all nodes below */
};

/*
 * The sums over the children of one fairshare parent.  Accounts with `parent` shares are left out,
 * because their children are members of the same level.
 */
struct level {
    uint64_t shares;          /* sum of the shares that are not `parent` */
    struct wide usage;        /* includes users with `parent` shares */
    struct wide sharer_usage; /* without users with `parent` shares */
};

struct tree {
    struct node *nodes; /* nodes[0] is the root */
    uint32_t count;
    uint32_t user_count; /* existing user associations: N in Fair Tree */
    uint32_t *by_id;     /* the nodes in ascending order of id */
    uint32_t *children;
    struct level *levels;
    uint32_t level_count;
    struct id_index *places; /* maps an association id to the node that gets its usage */
};

/*
 * Builds the tree and sorts the rows by id.  Returns -1 with ERROR_DATA and names the ids if a
 * parent is missing, or if there are a cycle, duplicates, several roots or no root.  With
 * BAD_ROWS_SKIP, such a row or cycle is left out with everything below it and gets one finding.  A
 * missing root is always an error.  Several roots are an error unless exactly one of them is named
 * `root`.  The caller frees the tree with tree_destroy().
 */
int tree_build(struct tree **tree, const struct associations *associations, enum bad_rows bad_rows,
               struct findings *findings, struct error *err);
void tree_destroy(struct tree *tree);

/*
 * Returns the node that gets the usage of this association id: its own node or, for a deleted
 * association, the nearest existing ancestor.  Returns NO_NODE if none exists.
 */
uint32_t tree_place(const struct tree *tree, uint64_t id);

/* Sets below[node] to true if the node is `top` or below it. */
void tree_mark_below(const struct tree *tree, uint32_t top, bool *below);

/*
 * Adds each node's own usage to all its ancestors, then sums up the levels.  Treats negative usage
 * as 0.  Returns -1 with ERROR_DATA if a sum is out of range.
 */
int tree_roll_up_usage(struct tree *tree, struct error *err);
/*
 * Recomputes the usage of the levels from nodes that already include everything below them.
 * Returns false if a sum is out of range.
 */
bool tree_sum_levels(struct tree *tree);

/*
 * The nodes from the root to a given one, along the fairshare parents or along the parents in the
 * database.  Fairshare parents skip accounts with `parent` shares.
 */
struct path {
    uint32_t *nodes; /* nodes[0] is the root */
    uint32_t count;
};
struct path path_to(const struct tree *tree, uint32_t node, bool fairshare);
void path_free(struct path *path);

bool node_has_parent_shares(const struct node *node);

struct names;
struct tree;

/*
 * Sets node.order to the order in which slurmctld visits tied nodes, computed from names.  This is
 * the byte order of lineages: depth first, and siblings by their own part of the lineage.
 */
void tree_order_by_lineage(struct tree *tree, const struct names *names);

/* Returns an array, indexed by node, of the number of nodes with a lower `order`.  The caller frees
 * the array. */
uint32_t *tree_places_in_order(const struct tree *tree);

#endif
