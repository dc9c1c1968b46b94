/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_HEAVY_H
#define FAIRMILL_CORE_HEAVY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/number/wide.h"

struct charge_term;
struct clock;

/* Of many job records the few that weigh most: what each was charged, and what decay has left of
 * it.  Memory grows with the records that were suspended, not with all. */

#define HEAVY_KEPT 10

struct heavy_record {
    uint64_t id_job, association;
    uint64_t start, end;    /* time_start and time_end of the row; 0 where it has not ended */
    struct wide used, left; /* sums of a clock that does not decay, and of the run's */
};

struct heavy {
    struct heavy_record kept[HEAVY_KEPT]; /* the heaviest first */
    size_t count;                         /* of these */
    uint64_t seen;                        /* of all records */
    struct wide left;                     /* of all of them */
    struct heavy_suspensions *suspensions;
};

/* `record` tells everything but the sums, which are the term's.  False where one leaves the
 * integers' range. */
bool heavy_add(struct heavy *heavy, const struct clock *plain, const struct charge_term *term,
               struct heavy_record record);
/* What is taken back of a record, told before heavy_add(); `seconds` of it. */
bool heavy_suspend(struct heavy *heavy, uint64_t id_job, uint64_t start,
                   const struct charge_term *taken_back, uint128 seconds);
void heavy_free(struct heavy *heavy);

#endif
