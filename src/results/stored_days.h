/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_STORED_DAYS_H
#define FAIRMILL_RESULTS_STORED_DAYS_H

#include "results/stored_state.h"

/* What is stored about the days of usage, apart from their rows. */

/* A cluster's row of fairmill_usage_span.  Times are in epoch seconds. */
struct usage_span {
    uint64_t as_of; /* time of the run that wrote the days; 0 if no run has written days */
    /* Earliest end time of a job at that run; UINT64_MAX if no job had ended. */
    uint64_t oldest_end;
    uint64_t final_to; /* days before this time never change, because their jobs were purged */
};

/*
 * Reads the row.  Sets `*known` to whether a hash of the row is stored.  Sets `*intact` to true if
 * the row matches the hash, or if no row and no hash are stored.  Returns -1 on error.
 */
int usage_span_read(struct db *db, const char *cluster, struct usage_span *span, bool *known,
                    bool *intact, struct error *err);
int usage_span_write(struct db *db, const char *cluster, const struct usage_span *span,
                     struct error *err);

extern const char usage_span_table[];

/* The row of fairmill_usage_span, even if it is damaged, and the hashes of all stored days. */
struct stored_days {
    struct usage_span span;
    struct hash_segments days;
};
int stored_days_read(struct db *db, const char *cluster, struct stored_days *stored,
                     struct error *err);
void stored_days_free(struct stored_days *stored);

/* Returns true if a stored day does not begin at midnight in the process's time zone. */
bool stored_days_are_strange(const struct stored_days *stored);

/*
 * Returns the time at which the first summed day must begin after a change of the time zone.  A day
 * that begins at this time does not overlap the stored days of the old time zone, and leaves no gap
 * after them.  Returns 0 if the first day can begin at midnight.
 *
 * Days before `from`, final days, and days before `oldest_end` (if jobs were purged since the last
 * run) cannot be summed again.  `oldest_end` is the earliest end time of the current job rows.
 */
uint64_t stored_days_border(const struct stored_days *stored, uint64_t from, uint64_t oldest_end);

#endif
