/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_USAGE_DAYS_H
#define FAIRMILL_RESULTS_USAGE_DAYS_H

#include <stdbool.h>
#include <stdint.h>

struct db;
struct error;
struct statement;

/* Adds the usage of a cluster to a statement. */

/* The daily usage of a cluster: the charged usage, or the usage of a TRES. */
struct usage_days {
    struct db *results;
    const char *cluster;
    bool of_tres;
    int64_t number; /* of the TRES (results/tres_days.h) */
};

/* Sets `*until` to the end of the complete daily usage, and `*oldest` to its first day (INT64_MAX
 * if there is no daily usage).  Returns -1 on error. */
int usage_days_reach(const struct usage_days *days, int64_t *until, int64_t *oldest,
                     struct error *err);
/* Adds the daily usage from `from` until `until`, in epoch seconds.  Returns -1 on error. */
int usage_days_add(struct statement *statement, const struct usage_days *days, int64_t from,
                   int64_t until, struct error *err);

#endif
