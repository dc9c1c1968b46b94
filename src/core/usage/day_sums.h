/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_DAY_SUMS_H
#define FAIRMILL_CORE_USAGE_DAY_SUMS_H

#include <stddef.h>

#include "core/number/wide.h"

/*
 * Undecayed daily usage of associations: sums of units (decay_table.h) times seconds, and amounts
 * of the kept TRES (kept_tres.h) in TRES-seconds.
 */

/*
 * A row: the usage of an association on a day.  The number of amounts is the same for all rows of a
 * struct day_sums.  Amounts are summed modulo 2^64, so a row does not depend on the order of its
 * additions.  A total above 2^63 - 1 is out of range.
 */
struct day_sum {
    uint64_t id;  /* association id of the job rows */
    uint32_t day; /* index of the day */
    struct wide sum;
    uint64_t tres[]; /* indexed as kept->tres */
};

/* The usage of an association per second.  It is subtracted if `negative` is set. */
struct usage_rate {
    uint64_t id;
    uint128 units; /* below 2^127; may be 0 although `tres` are not */
    bool negative;
    const uint64_t *tres; /* counts of the kept TRES, indexed as kept->tres; NULL means 0 */
};

/*
 * Counts from this number on are ignored.  No cluster has as many of a TRES: it is 64 PiB of
 * memory in MiB.  A false count would make the amounts of its day overflow.
 */
#define DAY_TRES_COUNT_LIMIT (UINT64_C(1) << 36)

/* Rows in memory, `size` bytes each.  `next` is for callers that read the rows one by one. */
struct day_list {
    const char *rows;
    size_t count, next, size, tres; /* tres: number of amounts in each row */
};
static inline const struct day_sum *day_list_at(const struct day_list *list, size_t i)
{
    return (const struct day_sum *)(const void *)(list->rows + i * list->size);
}

/* Returns the size in bytes of a row with `tres` amounts. */
static inline size_t day_sum_size(size_t tres)
{
    return sizeof(struct day_sum) + tres * sizeof(uint64_t);
}

/*
 * Adds the sum and the amounts of `more` to `row`, or subtracts them if `negative`.  Returns false
 * and changes nothing if the result is out of the range of struct wide.
 */
bool day_sum_add(struct day_sum *row, const struct day_sum *more, bool negative, size_t tres);

/* Returns true if the sum and all amounts are 0. */
bool day_sum_is_zero(const struct day_sum *row, size_t tres);

/* Creates rows with `tres` amounts. */
struct day_sums *day_sums_create(size_t tres);
void day_sums_destroy(struct day_sums *sums);

/*
 * Returns true if the sum fits into three 64-bit words in two's complement, the format of the
 * tables.
 */
bool day_sum_is_in_range(const struct wide *sum);

/*
 * Adds the product of a rate and `seconds` to an association's row.  The units are below 2^127, so
 * each product is in range, and the sum of 2^60 products is below 2^255.
 */
void day_sums_add_product(struct day_sums *sums, uint32_t day, const struct usage_rate *rate,
                          uint64_t seconds);
/* Adds `more` to a sum.  Returns false and adds nothing if `more` is out of range. */
bool day_sums_add(struct day_sums *sums, uint32_t day, uint64_t id, const struct wide *more);
/* Adds to the amount with the index `tres`. */
void day_sums_add_tres(struct day_sums *sums, uint32_t day, uint64_t id, size_t tres,
                       uint64_t amount);
/*
 * Adds a row with the same number of amounts to the row of the same id on `day`, or subtracts it if
 * `negative`.  Returns false and adds nothing if the row's sum is out of range.
 */
bool day_sums_add_row(struct day_sums *sums, uint32_t day, const struct day_sum *row,
                      bool negative);

/*
 * Returns the number of rows in memory.  An association may have several rows of a day until
 * day_sums_sorted() combines them.
 */
size_t day_sums_held(const struct day_sums *sums);

/*
 * Returns the rows, sorted by day and, within a day, by id.  The list is valid until rows are added
 * or cleared.
 */
struct day_list day_sums_sorted(struct day_sums *sums);
void day_sums_clear(struct day_sums *sums);

/*
 * Spreads `units` evenly over [start, end), and sets `*share` to the part before `until`, rounded
 * down.  A day's part is the difference of two such values, so no remainder is lost between days.
 * Returns false if the product of `units` and the seconds overflows.
 */
bool day_share(uint128 units, uint64_t start, uint64_t end, uint64_t until, struct wide *share);

#endif
