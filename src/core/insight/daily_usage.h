/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_DAILY_USAGE_H
#define FAIRMILL_CORE_DAILY_USAGE_H

#include <stddef.h>

#include "core/number/wide.h"

struct charge_term;
struct clock;

/* What was used on each local day, and what decay has left of it.  Memory grows with the days, not
 * with jobs. */

struct usage_day {
    uint64_t first, next;   /* second of the day, and of the one after it */
    struct wide used, left; /* sums of a clock that does not decay, and of the run's */
};

struct daily_usage {
    struct usage_day *days; /* by day */
    size_t count;
};

/* Cut a charge at midnights and add it to its days; `negative`: take it back.  False where a sum
 * leaves the integers' range. */
bool daily_usage_add(struct daily_usage *days, const struct clock *plain, const struct clock *clock,
                     const struct charge_term *term, bool negative);
/* By what is left of them, the heaviest first; nothing may be added any more. */
void daily_usage_rank(struct daily_usage *days);
void daily_usage_free(struct daily_usage *days);

#endif
