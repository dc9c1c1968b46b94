/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_RULES_H
#define FAIRMILL_COMMAND_DIFF_DIFF_RULES_H

struct error;
struct finder;
struct tree;

/* Causes that are rules: they change the factors of a tree whose usage is summed up, but not
 * usage. */

/* Applies the rules of slurmctld's conformance, then the rules of the release that wrote the
 * output.  The causes of the changes are `deleted`, `ties` and `release`. */
void finder_apply_conformance(struct finder *finder, const struct tree *tree);
/* Orders tied accounts by bytes instead of by collation, or the reverse, if more printed factors
 * match then.  The cause of the changes is `order`.  Returns -1 on error. */
int finder_apply_order(struct finder *finder, struct tree *tree, struct error *err);

#endif
