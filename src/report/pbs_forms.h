/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PBS_FORMS_H
#define FAIRMILL_REPORT_PBS_FORMS_H

#include "core/fairshare/fairshare.h"

struct share_list;

/* What pbsfs of OpenPBS prints, of a published tree.  Ids of associations stand for its numbers of
 * groups; shares that PBS has not, the root's and `parent`, are -1.  Percentages are of single
 * precision, as they are there. */

struct pbs_tree {
    struct fairshare fairshare; /* values as published */
    const struct names *names;  /* UTF-8 */
    const char *unit;           /* what usage is counted in */
    bool root_is_zero;          /* its root has the number 0, else its association's */
    struct wide *usage;         /* of every node, as PBS counts it */
    float *percentages;         /* of every node, as a part of 1 */
};

/* Give a tree whose other members are set its usage and percentages. */
void pbs_tree_count(struct pbs_tree *tree);
void pbs_tree_free(struct pbs_tree *tree);

/* What pbsfs says of a node.  The root is in group -1. */
struct pbs_member {
    const char *name; /* as the tree's names are */
    int64_t group;
    uint32_t number;
    int32_t shares;
    double usage, percentage; /* the root's percentage is 100 */
};
struct pbs_member pbs_tree_member(const struct pbs_tree *tree, uint32_t node);

/* As `pbsfs -g NAME`. */
void pbs_add_entity(struct text *text, const struct pbs_tree *tree, uint32_t node);
/* As `pbsfs -c NAME NAME`: who is more deserving, or `NAME == NAME`. */
void pbs_add_winner(struct text *text, const struct pbs_tree *tree, uint32_t one, uint32_t other);
/* As `pbsfs -t` and `-p`, of the nodes that the list shows, in its order. */
void pbs_add_tree(struct text *text, const struct pbs_tree *tree, const struct share_list *list);
void pbs_add_list(struct text *text, const struct pbs_tree *tree, const struct share_list *list);

#endif
