/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_DATED_H
#define FAIRMILL_IMPORT_DATED_H

#include <stddef.h>
#include <stdint.h>

#include "db/db.h"

/* What OpenPBS is set to, from when on: pbs_setting. */

struct dated_value {
    const char *name;
    char *value; /* NULL: nothing is set, and OpenPBS's default counts */
};

/* Note those of a cluster that differ from what was noted last, as of an instant, in the caller's
 * transaction; where nothing is noted of any of them, they have held since ever.  *changed grows by
 * how many are new. */
struct dated_values {
    const struct dated_value *values;
    size_t count;
};
int dated_store(struct db *db, const char *cluster, struct dated_values values, int64_t instant,
                uint64_t *changed, struct error *err);

/* The past is not written anew: refuse (ERROR_DATA) a change as of an instant where something is
 * as it is since then, or later. */
int dated_check(const char *name, int64_t since, int64_t instant, struct error *err);

#endif
