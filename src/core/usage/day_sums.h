/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_DAY_SUMS_H
#define FAIRMILL_CORE_USAGE_DAY_SUMS_H

#include <stddef.h>

#include "core/number/wide.h"

/* What associations used on days, undecayed: sums of units (decay_table.h) times seconds. */

struct day_sum {
    uint64_t id;  /* of the association, as job rows have it */
    uint32_t day; /* its place among the days */
    struct wide sum;
};

/* What an association uses each second; where `negative`, what is taken back. */
struct usage_rate {
    uint64_t id;
    uint128 units; /* below 2^127 */
    bool negative;
};

struct day_sums *day_sums_create(void);
void day_sums_destroy(struct day_sums *sums);

/* Whether three words of 64 bits in two's complement have room for a sum, as tables have them. */
bool day_sum_is_in_range(const struct wide *sum);

/* Add so many seconds of a rate to an association's sum.  units being below 2^127, the product is
 * in range, and 2^60 times as much is below 2^255. */
void day_sums_add_product(struct day_sums *sums, uint32_t day, const struct usage_rate *rate,
                          uint64_t seconds);
/* sum += more.  False, and nothing added, where `more` is not in range. */
bool day_sums_add(struct day_sums *sums, uint32_t day, uint64_t id, const struct wide *more);

/* How many rows of memory they take: what was added to the same sum may lie there in parts until
 * sums are asked for in order. */
size_t day_sums_held(const struct day_sums *sums);

/* All of them, day by day and within a day by id.  They hold until sums are added or cleared. */
const struct day_sum *day_sums_sorted(struct day_sums *sums, size_t *count);
void day_sums_clear(struct day_sums *sums);

/* What is spread evenly over [start, end) is worth up to `until`, cut: so that what is cut off one
 * day goes to the next.  False where it is 2^128 or above. */
bool day_share(uint128 units, uint64_t start, uint64_t end, uint64_t until, struct wide *share);

#endif
