/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PBSFS_PRINT_H
#define FAIRMILL_REPORT_PBSFS_PRINT_H

#include <stdint.h>

#include "report/printed.h"

/* What `pbsfs -p` of OpenPBS printed: what usage is counted in, and a line for each member of the
 * tree, groups before what is in them. */

struct printed_member {
    const char *name;
    int64_t group, number, shares; /* -1: it has none */
    struct printed_number usage, percentage;
};

struct pbsfs_print {
    struct arena *arena; /* of the names */
    const char *unit;    /* NULL: the print does not say */
    struct printed_member *rows;
    size_t count;
};

/* ERROR_DATA says which line is wrong, or that there is none.  Then nothing is to be freed. */
int pbsfs_print_read(struct pbsfs_print *print, struct span text, struct error *err);
void pbsfs_print_free(struct pbsfs_print *print);

#endif
