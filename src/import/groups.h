/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_GROUPS_H
#define FAIRMILL_IMPORT_GROUPS_H

#include "db/db.h"

/*
 * Updates the cluster's lines in pbs_group from a resource_group file, as of `time`.  The format is
 * described in OpenPBS's Administrator's Guide, section Fairshare.  The file has one line for each
 * group or entity:
 *
 *       NAME CRESGROUP PARENT SHARES
 *
 * Spaces or tabs separate the words, and further words are ignored.  Lines that begin with `#` or
 * `*` are comments.  The parent is `root`, TREEROOT, `unknown` or the name of an earlier line.
 * Each name occurs once.
 *
 * If a line was removed or changed, its old version is valid until `time`.  The lines of the first
 * file are also valid for all earlier times, so that a tree exists for all usage.  New names get a
 * number (import/entities.h).  Sets *changed to the number of lines that were changed, added or
 * removed.
 *
 * Fails with ERROR_DATA, the file's name and the line if the scheduler would skip a line, because
 * all members below that line would be unknown.  Fails with ERROR_DATA if `time` is not after the
 * last change: stored history is never rewritten.
 */
int groups_import(struct db *db, const char *cluster, const char *path, int64_t time,
                  uint64_t *changed, struct error *err);

#endif
