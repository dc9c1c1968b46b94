/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_DAY_SUMS_H
#define FAIRMILL_CORE_USAGE_DAY_SUMS_H

#include <stddef.h>

#include "core/number/wide.h"

/* Undecayed daily usage of associations: sums of units (decay_table.h) times seconds. */

struct day_sum {
    uint64_t id;  /* association id of the job rows */
    uint32_t day; /* index of the day */
    struct wide sum;
};

/* The usage of an association per second.  It is subtracted if `negative` is set. */
struct usage_rate {
    uint64_t id;
    uint128 units; /* below 2^127 */
    bool negative;
};

struct day_sums *day_sums_create(void);
void day_sums_destroy(struct day_sums *sums);

/*
 * Returns true if the sum fits into three 64-bit words in two's complement, the format of the
 * tables.
 */
bool day_sum_is_in_range(const struct wide *sum);

/*
 * Adds the product of a rate and `seconds` to an association's sum.  The rate is below 2^127, so
 * each product is in range, and the sum of 2^60 products is below 2^255.
 */
void day_sums_add_product(struct day_sums *sums, uint32_t day, const struct usage_rate *rate,
                          uint64_t seconds);
/* Adds `more` to a sum.  Returns false and adds nothing if `more` is out of range. */
bool day_sums_add(struct day_sums *sums, uint32_t day, uint64_t id, const struct wide *more);

/*
 * Returns the number of rows in memory.  A sum may have several rows until day_sums_sorted()
 * combines them.
 */
size_t day_sums_held(const struct day_sums *sums);

/*
 * Returns the sums, sorted by day and, within a day, by id.  The array is valid until sums are
 * added or cleared.
 */
const struct day_sum *day_sums_sorted(struct day_sums *sums, size_t *count);
void day_sums_clear(struct day_sums *sums);

/*
 * Spreads `units` evenly over [start, end), and sets `*share` to the part before `until`, rounded
 * down.  A day's part is the difference of two such values, so no remainder is lost between days.
 * Returns false if the product of `units` and the seconds overflows.
 */
bool day_share(uint128 units, uint64_t start, uint64_t end, uint64_t until, struct wide *share);

#endif
