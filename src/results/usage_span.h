/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_USAGE_SPAN_H
#define FAIRMILL_RESULTS_USAGE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "results/kept.h"

struct db;
struct error;

/* A cluster's row of fairmill_usage_span. */
struct usage_span {
    uint64_t as_of;      /* of the run that wrote the days; 0: none did */
    uint64_t oldest_end; /* of all job rows then; UINT64_MAX: none had ended */
    uint64_t final_to;   /* days before it are not changed any more: their jobs were purged */
};

/* Read it.  *known: a run has said what it stored; *intact: the row is that, or there is neither.
 */
int usage_span_read(struct db *db, const char *cluster, struct usage_span *span, bool *known,
                    bool *intact, struct error *err);
int usage_span_write(struct db *db, const char *cluster, const struct usage_span *span,
                     struct error *err);

extern const char usage_span_table[];

/* That row as it is found, and what is stored of each day. */
struct stored_days {
    struct usage_span span;
    struct kept_parts days;
};
int stored_days_read(struct db *db, const char *cluster, struct stored_days *stored,
                     struct error *err);
void stored_days_free(struct stored_days *stored);
/* Whether any of them does not begin with a day of the process's time zone. */
bool stored_days_are_strange(const struct stored_days *stored);
/* Days can be summed from `from` on, unless they are final, and up to where jobs were purged if the
 * oldest one ended at `oldest_end` now.  Returns the time at which the first of them must begin so
 * that the stored days of another time zone before it neither overlap it nor leave a gap; 0 if it
 * can begin at midnight. */
uint64_t stored_days_border(const struct stored_days *stored, uint64_t from, uint64_t oldest_end);

#endif
