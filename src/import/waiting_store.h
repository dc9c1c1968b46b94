/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_WAITING_STORE_H
#define FAIRMILL_IMPORT_WAITING_STORE_H

#include "db/db.h"
#include "import/waiting.h"

/* Put what was told of jobs, of queues and of the server in the place of what was told before; what
 * was not told of stays.  A job that waits on keeps its key.  *changed grows by the server's values
 * that are new. */
int waiting_store(struct db *db, const char *cluster, const struct waiting *waiting,
                  uint64_t *changed, struct error *err);

#endif
