/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PBS_FORMS_H
#define FAIRMILL_REPORT_PBS_FORMS_H

#include "core/fairshare/fairshare.h"

struct share_list;

/*
 * Prints a published tree in the formats of OpenPBS's pbsfs.
 *
 * Association ids are used as numbers of groups.  Shares that OpenPBS does not know (the root's,
 * and `parent`) are -1.  Percentages have single precision, as in OpenPBS.
 */

struct pbs_tree {
    struct fairshare fairshare; /* values as published */
    const struct names *names;  /* UTF-8 */
    const char *unit;           /* unit of usage */
    bool root_is_zero;          /* the root has number 0, not the id of its association */
    struct wide *usage;         /* indexed by node; as OpenPBS computes it */
    float *percentages;         /* indexed by node; fractions of 1 */
};

/*
 * Sets the usage and percentages of a tree whose other members are set.  The caller frees them with
 * pbs_tree_free().
 */
void pbs_tree_count(struct pbs_tree *tree);
void pbs_tree_free(struct pbs_tree *tree);

/* A node in pbsfs's terms.  The root is in group -1. */
struct pbs_member {
    const char *name; /* UTF-8, owned by the tree's names */
    int64_t group;
    uint32_t number;
    int32_t shares;
    double usage, percentage; /* the root's percentage is 100 */
};
struct pbs_member pbs_tree_member(const struct pbs_tree *tree, uint32_t node);

/* Adds an entity as `pbsfs -g NAME` prints it. */
void pbs_add_entity(struct text *text, const struct pbs_tree *tree, uint32_t node);
/* Adds the more deserving entity, or `NAME == NAME`, as `pbsfs -c NAME NAME` prints it. */
void pbs_add_winner(struct text *text, const struct pbs_tree *tree, uint32_t one, uint32_t other);
/* Adds the shown nodes of `list`, in its order, as `pbsfs -t` and `pbsfs -p` print them. */
void pbs_add_tree(struct text *text, const struct pbs_tree *tree, const struct share_list *list);
void pbs_add_list(struct text *text, const struct pbs_tree *tree, const struct share_list *list);

#endif
