/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_USAGE_STORE_H
#define FAIRMILL_IMPORT_USAGE_STORE_H

#include "db/db.h"
#include "import/usage_file.h"

/* Bring a usage file into pbs_usage, as of when it was written, and its names among the entities.
 * One of the same instant is replaced. */
int usage_store(struct db *db, const char *cluster, const struct usage_list *list,
                struct error *err);

#endif
