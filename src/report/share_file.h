/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SHARE_FILE_H
#define FAIRMILL_REPORT_SHARE_FILE_H

#include "report/printed.h"
#include "report/share_set.h"

struct text;

/*
 * The file that `sacctmgr dump` writes and `sacctmgr load` reads:
 *
 *     Cluster - 'mill':Fairshare=1
 *     Parent - 'root'
 *     Account - 'physics':Fairshare=60
 *     Parent - 'physics'
 *     User - 'alice':Partition='gpu':DefaultAccount='physics':Fairshare=10
 *
 * A line that ends with a backslash continues on the next line.  `#` begins a comment.  A backslash
 * removes the meaning of the next character.  Files are read as in sacctmgr, with three exceptions.
 * Input that sacctmgr would skip or guess is rejected.  `#` in quotes does not begin a comment.
 * Lines that begin with `QOS -' are skipped.
 */

/*
 * Reads `text` into `list`.  The caller frees it with share_set_free().  On error returns -1 with
 * ERROR_DATA, which names the line; `list` then holds no memory.
 */
int share_file_read(struct share_set *list, struct span text, struct error *err);

/*
 * Like share_file_read(), but reads a file; `-` is standard input.  The error message names the
 * file.
 */
int share_file_load(struct share_set *list, const char *path, struct error *err);

/*
 * Adds such a file to `text`.  Parents are in order of depth and then name; below each parent are
 * its users and then its accounts, by name.  Returns -1 with ERROR_DATA if the format cannot
 * represent a name or an association, which the message names.
 */
int share_file_add(struct text *text, const struct share_set *list, struct error *err);

#endif
