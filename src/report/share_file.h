/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SHARE_FILE_H
#define FAIRMILL_REPORT_SHARE_FILE_H

#include "report/printed.h"
#include "report/share_set.h"

struct text;

/* The file that `sacctmgr dump` writes and `sacctmgr load` reads:
 *
 *     Cluster - 'mill':Fairshare=1
 *     Parent - 'root'
 *     Account - 'physics':Fairshare=60
 *     Parent - 'physics'
 *     User - 'alice':Partition='gpu':DefaultAccount='physics':Fairshare=10
 *
 * A line that ends with a backslash goes on in the next one, `#` begins a comment, and a backslash
 * takes the meaning from the character behind it.  All is read as sacctmgr reads it, but what
 * sacctmgr skips or guesses is refused, # in quotes is no comment, and lines `QOS -' are passed
 * over. */

/* ERROR_DATA names the line.  The list is to be freed with share_set_free(); -1 leaves nothing to
 * be freed. */
int share_file_read(struct share_set *list, struct span text, struct error *err);

/* The same of a file, `-` is standard input; the message names it. */
int share_file_load(struct share_set *list, const char *path, struct error *err);

/* Add such a file: users by name, then accounts by name, below one parent after another, those
 * nearest to the root first.  ERROR_DATA names what no such file can say. */
int share_file_add(struct text *text, const struct share_set *list, struct error *err);

#endif
