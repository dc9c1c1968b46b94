/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_RULES_H
#define FAIRMILL_COMMAND_DIFF_DIFF_RULES_H

struct error;
struct finder;
struct tree;

/* Causes that are rules and no usage: they change factors of a tree whose usage is rolled up. */

/* Take the rules of slurmctld's conformance, and then those of the release that printed: the causes
 * deleted, ties and release. */
void finder_apply_conformance(struct finder *finder, const struct tree *tree);
/* Visit tied accounts in the order with which more of the print agrees: the cause order. */
int finder_apply_order(struct finder *finder, struct tree *tree, struct error *err);

#endif
