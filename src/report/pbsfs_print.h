/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PBSFS_PRINT_H
#define FAIRMILL_REPORT_PBSFS_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "report/printed.h"

/*
 * Reads the output of OpenPBS's pbsfs.  `pbsfs -p` prints the unit of usage and a line for each
 * member of the tree, a group before its members.  `pbsfs -g NAME` prints one entity; its output
 * may be repeated.
 */

/* A node on the path from the root to an entity. */
struct printed_step {
    const char *name;
    struct printed_number usage, part; /* part: the percentage as a fraction of 1 */
};

struct printed_member {
    const char *name;
    int64_t group, number, shares; /* -1: none */
    struct printed_number usage, percentage;
    /* From `pbsfs -g`; otherwise NOT_PRINTED and an empty path. */
    struct printed_number tree_usage;
    struct printed_step *path; /* from the root to the entity itself */
    size_t path_count;
};

struct pbsfs_print {
    struct arena *arena; /* owns the names */
    const char *unit;    /* unit of usage; NULL: not printed */
    bool whole;          /* the output has the whole tree (`pbsfs -p`) */
    struct printed_member *rows;
    size_t count;
};

/*
 * Reads `text` into `print`.  The caller frees it with pbsfs_print_free().  If there are no rows or
 * a line is wrong, returns -1 with ERROR_DATA, which names the line; `print` then holds no memory.
 */
int pbsfs_print_read(struct pbsfs_print *print, struct span text, struct error *err);
void pbsfs_print_free(struct pbsfs_print *print);

#endif
