/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_VIEWS_H
#define FAIRMILL_RESULTS_VIEWS_H

#include <stdint.h>

struct db;
struct error;

/* Whether readers get what runs wrote.  They read views, which may be gone, or whose definer may
 * have lost its rights or its account, while all tables are there. */

/* Opens every view; fails with the database's reason and what to do about it.  PostgreSQL ends the
 * transaction's use then. */
int views_open(struct db *db, struct error *err);
/* Fails unless the view of values has this many associations of the cluster. */
int views_count(struct db *db, const char *cluster, int64_t associations, struct error *err);

#endif
