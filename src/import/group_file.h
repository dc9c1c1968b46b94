/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_GROUP_FILE_H
#define FAIRMILL_IMPORT_GROUP_FILE_H

#include <stddef.h>
#include <stdint.h>

struct error;

/* OpenPBS's resource_group (its Administrator's Guide, Fairshare): the tree of shares, a line a
 * group or an entity,
 *
 *     NAME CRESGROUP PARENT SHARES
 *
 * with blanks or tabs between, `#` before a comment, and a parent that is `root` or stands in an
 * earlier line.  Names are there once, and so are numbers.  `root` is number 0, and `unknown`,
 * below which entities are that no line has, is number 1. */

struct group_line {
    char *name, *parent; /* UTF-8 */
    int64_t cresgroup, shares;
};

struct group_list {
    struct group_line *lines;
    size_t count;
};

/* Read a file; -1 with its name and the line where it is none (ERROR_DATA).  The scheduler passes
 * over such a line, and whoever stands below it is unknown, so it is better to know. */
int group_file_read(struct group_list *list, const char *path, struct error *err);
void group_list_free(struct group_list *list);

#endif
