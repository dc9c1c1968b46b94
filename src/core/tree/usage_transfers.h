/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_USAGE_TRANSFERS_H
#define FAIRMILL_CORE_TREE_USAGE_TRANSFERS_H

#include <stddef.h>
#include <stdint.h>

struct associations;
struct usage_owners;
struct association_history;
struct tree;

/* What an association used before it was removed, as slurmctld has it: it stays with the account
 * above it of that time, and where that was removed, too, with the account above that one; one that
 * is added again begins at 0.
 *
 * Only removals that the source wrote down count, up to past->now.  Where an account was is told by
 * when it was added, and by its row since then.  What was done before the source's first word is
 * not told; then it was where its row is. */
struct usage_transfer {
    uint64_t association, until; /* what it used before this instant is ... */
    uint64_t owner;              /* ... this one's */
};
struct usage_transfers {
    struct usage_transfer
        *rows; /* those of an association one after another, by ascending `until` */
    size_t count;
};

/* `present` is what the source has now; names may be added. */
struct usage_transfers usage_transfers_find(const struct association_history *history,
                                            const struct associations *present);
/* Those that the tree does not have by itself: it leads the usage of one that is gone to the
 * nearest that lives.  NULL where there is none. */
struct usage_owners *usage_transfers_owners(const struct usage_transfers *transfers,
                                            const struct tree *tree);
void usage_transfers_free(struct usage_transfers *transfers);

#endif
