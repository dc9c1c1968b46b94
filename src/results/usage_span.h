/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_USAGE_SPAN_H
#define FAIRMILL_RESULTS_USAGE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
