/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PBS_FORMS_H
#define FAIRMILL_REPORT_PBS_FORMS_H

#include "core/fairshare/fairshare.h"

struct share_list;

/* What pbsfs of OpenPBS prints, of a published tree.  Ids of associations stand for its numbers of
 * groups; shares that PBS has not, the root's and `parent`, are -1. */

struct pbs_tree {
    struct fairshare fairshare; /* values as published */
    const struct names *names;  /* UTF-8 */
    const struct wide *usage;   /* of every node, as PBS counts it */
};

/* As `pbsfs -g NAME`. */
void pbs_add_entity(struct text *text, const struct pbs_tree *tree, uint32_t node);
/* As `pbsfs -c NAME NAME`: who is more deserving, or `NAME == NAME`. */
void pbs_add_winner(struct text *text, const struct pbs_tree *tree, uint32_t one, uint32_t other);
/* As `pbsfs -t`. */
void pbs_add_tree(struct text *text, const struct share_list *list);

#endif
