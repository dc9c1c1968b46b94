/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_ROLLUP_H
#define FAIRMILL_CORE_ROLLUP_H

#include "core/usage/clock.h"

/* What an association used of a TRES within an hour, a day or a month, as slurmdbd sums it up: so
 * many TRES-seconds, taken as spread evenly over [start, end). */
struct rollup {
    uint64_t start, end; /* start < end */
    uint64_t alloc_secs;
};

/* Its usage at a price, cut: floor(alloc_secs x price x (Q(b) - Q(a)) / (end - start)), with [a, b)
 * the part of [start, end) that is from `since` on, before `until`, and that the clock counts.
 * False where alloc_secs x price is 2^128 or above. */
bool rollup_usage(const struct clock *clock, const struct rollup *rollup, uint64_t since,
                  uint64_t until, uint128 price, struct wide *usage);

#endif
