/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_GROUPS_H
#define FAIRMILL_IMPORT_GROUPS_H

#include "db/db.h"

/* Bring what pbs_group has of a cluster to what a resource_group says (OpenPBS's Administrator's
 * Guide, Fairshare), as of an instant.  The file has one line for each group or entity,
 *
 *     NAME CRESGROUP PARENT SHARES
 *
 * with blanks or tabs between.  Lines that begin with `#` or `*` are comments, and further words
 * are ignored.  The parent is `root`, or the name of an earlier line, TREEROOT or unknown.  Each
 * name occurs once.
 *
 * A line that is not there any more, or says something else, held until the instant.  The first
 * file holds since ever, so that all usage has its tree.  Names that are new get their number
 * (import/entities.h).  *changed lines were changed, added or removed.
 *
 * Fails with ERROR_DATA, the file's name and the line if the scheduler would skip a line, since all
 * members below it would be unknown; and if the instant is before one that a line holds since: the
 * past is not written anew. */
int groups_import(struct db *db, const char *cluster, const char *path, int64_t time,
                  uint64_t *changed, struct error *err);

#endif
