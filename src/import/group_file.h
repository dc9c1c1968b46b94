/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_GROUP_FILE_H
#define FAIRMILL_IMPORT_GROUP_FILE_H

#include <stddef.h>
#include <stdint.h>

struct error;

/* OpenPBS's resource_group (its Administrator's Guide, Fairshare): the tree of shares, one line for
 * each group or entity,
 *
 *     NAME CRESGROUP PARENT SHARES
 *
 * with blanks or tabs between.  Lines that begin with `#` or `*` are comments, and further words
 * are ignored.  The parent is `root`, or the name of an earlier line, TREEROOT or unknown.  Each
 * name occurs once. */

struct group_line {
    char *name, *parent; /* UTF-8 */
    int64_t cresgroup, shares;
};

struct group_list {
    struct group_line *lines;
    size_t count;
};

/* Read a file; -1 with its name and the line if the scheduler would skip a line (ERROR_DATA).  All
 * members below such a line would be unknown. */
int group_file_read(struct group_list *list, const char *path, struct error *err);
void group_list_free(struct group_list *list);

#endif
