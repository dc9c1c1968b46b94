/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_PRINT_H
#define FAIRMILL_COMMAND_DIFF_PRINT_H

#include <stdbool.h>
#include <stdint.h>

struct differences;
struct names;
struct sshare_print;
struct tree;

/* Which association of a tree each printed line is. */
struct printed_match {
    const struct printed_row **rows; /* by node; NULL: not printed */
    struct usage_bounds *bounds;     /* by node: of the usage that was printed */
    uint32_t *nodes;                 /* by row of the differences */
};

/* Fill it, and the differences' rows with the names of those that are in both.  The print may have
 * ids; else names tell, and of those that are printed alike, as partitions are not always, those
 * with the printed shares come first, then they are in slurmctld's own order where the tree is
 * `ordered`, else in that of partitions.
 *
 * RawUsage is cut to an integer, but NormUsage has an association's part of the root's usage to
 * all its digits, under Fair Tree of the same instant.  So what one prints narrows down the root's
 * usage, and that all others. */
void printed_match_make(struct printed_match *match, const struct sshare_print *print,
                        const struct tree *tree, const struct names *names, bool ordered,
                        struct differences *differences);
void printed_match_free(struct printed_match *match);

/* The shares of a line that has them, as a tree has them. */
int32_t printed_shares(const struct printed_row *row);

#endif
