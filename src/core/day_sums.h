/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_DAY_SUMS_H
#define FAIRMILL_CORE_DAY_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wide.h"

/* What associations used on days, undecayed: sums of units (clock.h) times seconds. */

struct day_sum {
    uint64_t id;  /* of the association, as job rows have it */
    uint32_t day; /* its place among the days */
    struct wide sum;
};

struct day_sums;
struct day_sums *day_sums_create(void);
void day_sums_destroy(struct day_sums *sums);
size_t day_sums_count(const struct day_sums *sums);

/* sum += units x seconds, or -= where `negative`; sum += more.  units is below 2^127.  False where
 * the sum would leave its range. */
bool day_sums_add_product(struct day_sums *sums, uint32_t day, uint64_t id, uint128 units,
                          uint64_t seconds, bool negative);
bool day_sums_add(struct day_sums *sums, uint32_t day, uint64_t id, const struct wide *more);
/* Whether there is such a sum. */
bool day_sums_has(struct day_sums *sums, uint32_t day, uint64_t id);

/* All of them, day by day and within a day by id.  They hold until sums are added or cleared. */
const struct day_sum *day_sums_sorted(struct day_sums *sums);
void day_sums_clear(struct day_sums *sums);

/* What is spread evenly over [start, end) is worth up to `until`, cut: so that what is cut off one
 * day goes to the next.  False where it is 2^128 or above. */
bool day_share(uint128 units, uint64_t start, uint64_t end, uint64_t until, struct wide *share);

#endif
