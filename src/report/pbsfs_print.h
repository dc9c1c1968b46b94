/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PBSFS_PRINT_H
#define FAIRMILL_REPORT_PBSFS_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "report/printed.h"

/* What `pbsfs -p` of OpenPBS printed: what usage is counted in, and a line for each member of the
 * tree, groups before what is in them; or what `pbsfs -g NAME` did, once or several times. */

/* On the way from the root to an entity. */
struct printed_step {
    const char *name;
    struct printed_number usage, part; /* its percentage, as a part of 1 */
};

struct printed_member {
    const char *name;
    int64_t group, number, shares; /* -1: it has none */
    struct printed_number usage, percentage;
    /* Of `pbsfs -g`, else NOT_PRINTED, and no path. */
    struct printed_number tree_usage;
    struct printed_step *path; /* the last one is itself */
    size_t path_count;
};

struct pbsfs_print {
    struct arena *arena; /* of the names */
    const char *unit;    /* NULL: the print does not say */
    bool whole;          /* of `pbsfs -p`, which has the whole tree */
    struct printed_member *rows;
    size_t count;
};

/* ERROR_DATA says which line is wrong, or that there is none.  Then nothing is to be freed. */
int pbsfs_print_read(struct pbsfs_print *print, struct span text, struct error *err);
void pbsfs_print_free(struct pbsfs_print *print);

#endif
