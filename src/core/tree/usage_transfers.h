/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_USAGE_TRANSFERS_H
#define FAIRMILL_CORE_TREE_USAGE_TRANSFERS_H

#include <stddef.h>
#include <stdint.h>

struct associations;
struct usage_owners;
struct association_history;
struct tree;

/*
 * Usage transfers: the usage of a removed association, moved to an ancestor account as in
 * slurmctld.
 *
 * When an association is removed, its usage moves to the account that was above it at that time.
 * If that account was removed, too, the usage moves to the next account above.  An association that
 * is added again starts with usage 0.
 *
 * Only logged removals up to history->now are used.  The parent of an account at a given time is
 * known from its additions, and after the last addition from its current row.  Before the start of
 * the log, the parent in the current row is assumed.
 */
struct usage_transfer {
    uint64_t association, until; /* the usage of `association` before `until` is transferred */
    uint64_t owner;              /* the association that gets this usage */
};
struct usage_transfers {
    struct usage_transfer *rows; /* grouped by association, in ascending order of `until` */
    size_t count;
};

/*
 * Finds the transfers.  `present` has the current rows; may add names to it.  Free the result with
 * usage_transfers_free().
 */
struct usage_transfers usage_transfers_find(const struct association_history *history,
                                            const struct associations *present);
/*
 * Returns the transfers of associations for which the tree would find a different owner.  The tree
 * moves the usage of a removed association to its nearest existing ancestor.  Returns NULL if there
 * are no such transfers.
 */
struct usage_owners *usage_transfers_owners(const struct usage_transfers *transfers,
                                            const struct tree *tree);
void usage_transfers_free(struct usage_transfers *transfers);

#endif
