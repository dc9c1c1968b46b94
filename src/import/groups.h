/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_GROUPS_H
#define FAIRMILL_IMPORT_GROUPS_H

#include "db/db.h"
#include "import/group_file.h"

/* Bring what pbs_group has of a cluster to what a resource_group says, as of an instant: a line
 * that is not there any more, or says something else, held until then.  The first file holds since
 * ever, so that all usage has its tree.  Names that are new get their number (import/entities.h).
 * *changed lines were changed, added or removed.
 *
 * An instant before one that a line holds since is refused (ERROR_DATA): the past is not written
 * anew.
 */
int groups_store(struct db *db, const char *cluster, const struct group_list *list, int64_t instant,
                 uint64_t *changed, struct error *err);

#endif
