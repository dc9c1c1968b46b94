/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_FILL_H
#define FAIRMILL_RESULTS_DAY_FILL_H

#include "results/days.h"

struct db;
struct publisher;

/*
 * Adds the amounts of the kept TRES to stored days that have none, and that no run computes any
 * more.  These are days whose jobs were purged, or became too old, before this release kept TRES.
 * The billed usage does not change.
 */
struct day_fill {
    struct tres_numbers numbers;
    struct kept_tres kept; /* every TRES that has a number; the ids are 0 */
    struct days
        days;       /* the days to fill; only starts, count, kept, used_numbers and anew are set */
    uint64_t *ends; /* end of each day */
};

/*
 * Finds the days to fill that begin from `since` to `until` (epoch seconds, inclusive).  The caller
 * frees `fill` with day_fill_free(), even after an error.  Returns -1 on error.
 */
int day_fill_find(struct db *db, const char *cluster, int64_t since, int64_t until,
                  struct day_fill *fill, struct error *err);
void day_fill_free(struct day_fill *fill);

/*
 * Adds the rows of `amounts` to the stored rows of a day.  `day` is an index in fill->days, and the
 * rows have the amounts of fill->kept.  Sets `*written` to false and changes nothing if the stored
 * rows are damaged or have amounts now.  Must run inside a transaction under the lock of the
 * cluster's runs.  Returns -1 on error.
 */
int day_fill_write(const struct publisher *publisher, struct day_fill *fill, size_t day,
                   const struct day_list *amounts, bool *written, struct error *err);

#endif
