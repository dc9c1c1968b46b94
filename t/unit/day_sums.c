/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/usage/decay_table.h"
#include "core/usage/day_sums.h"

static bool is(const struct wide *sum, uint64_t high, uint64_t low)
{
    return sum->word[0] == low && sum->word[1] == high && !sum->word[2] && !sum->word[3];
}

static void sums(void)
{
    struct day_sums *sums = day_sums_create();
    bool sorted = true, summed = true;
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 20000; i++)
            day_sums_add_product(sums, i * 7 % 20 + 1,
                                 &(struct usage_rate){ i * 7919 % 20000 + 1, i, false }, 2);
    size_t count;
    const struct day_sum *row = day_sums_sorted(sums, &count);
    ok(count == 20000, "a day and an id have one sum");
    for (size_t i = 1; i < 20000; i++)
        sorted &= row[i - 1].day < row[i].day ||
                  (row[i - 1].day == row[i].day && row[i - 1].id < row[i].id);
    ok(sorted, "sums are ordered by day and then by id");
    for (uint32_t i = 0; i < 20000; i++)
        summed &= row[i].day == (row[i].id - 1) * 17679 % 20000 * 7 % 20 + 1; /* inverse of 7919 */
    ok(summed, "sums have the day and id with which they were added");
    struct wide more = { { 5, 0, 0, 0 } };
    day_sums_add_product(sums, 1, &(struct usage_rate){ 1, 9, true }, 1);
    day_sums_add_product(sums, 1, &(struct usage_rate){ 1, 9, false }, 1);
    day_sums_add(sums, 1, 1, &more);
    row = day_sums_sorted(sums, &count);
    ok(row[0].day == 1 && row[0].id == 1 && is(&row[0].sum, 0, 5) && count == 20000,
       "sorted sums accept further amounts, and a subtracted amount cancels");
    day_sums_clear(sums);
    day_sums_sorted(sums, &count);
    ok(count == 0, "no sums remain after a clear");
    day_sums_add_product(sums, 3, &(struct usage_rate){ UINT64_MAX, (uint128)1 << 100, false },
                         86400);
    row = day_sums_sorted(sums, &count);
    ok(row[0].id == UINT64_MAX && row[0].sum.word[1] == (uint64_t)86400 << 36 &&
           !row[0].sum.word[0],
       "charges of more than 64 bits are summed");
    struct wide least = { { 0, 0, UINT64_C(1) << 63, UINT64_MAX } };
    struct wide below = { { UINT64_MAX, UINT64_MAX, INT64_MAX, UINT64_MAX } };
    ok(day_sums_add(sums, 4, 1, &least) && !day_sums_add(sums, 4, 1, &below),
       "an amount that does not fit three words is rejected");
    day_sums_destroy(sums);
}

/* Tests ids of every size, because large ids are sorted in a different way from small ones. */
static void any_ids(void)
{
    bool ordered = true;
    uint64_t state = 1;
    for (unsigned shift = 0; shift < 64; shift++) {
        struct day_sums *sums = day_sums_create();
        uint64_t all = 0, found = 0;
        for (unsigned i = 0; i < 3000; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            day_sums_add_product(sums, (uint32_t)(state >> 7) % 50,
                                 &(struct usage_rate){ state >> shift, i, false }, 1);
            all += i;
        }
        size_t count;
        const struct day_sum *row = day_sums_sorted(sums, &count);
        for (size_t i = 0; i < count; i++) {
            found += row[i].sum.word[0];
            ordered &= !i || row[i - 1].day < row[i].day ||
                       (row[i - 1].day == row[i].day && row[i - 1].id < row[i].id);
        }
        ordered &= found == all;
        day_sums_destroy(sums);
    }
    ok(ordered, "ids of any size are in order, and no sum is lost");
}

static void shares(void)
{
    struct wide share, total = { { 0 } }, before = { { 0 } };
    ok(day_share(10, 100, 130, 100, &share) && wide_is_zero(&share), "the share is 0 at the start");
    ok(day_share(10, 100, 130, 110, &share) && is(&share, 0, 3), "a share is rounded down");
    ok(day_share(10, 100, 130, 500, &share) && is(&share, 0, 10),
       "the share is the whole at the end and later");
    for (uint64_t until = 107; until < 140; until += 7) {
        struct wide part;
        day_share(10, 100, 130, until, &share);
        part = share;
        wide_subtract(&part, &before);
        wide_add(&total, &part);
        before = share;
    }
    ok(is(&total, 0, 10), "the shares of consecutive days add up to the whole");
}

int main(void)
{
    sums();
    any_ids();
    shares();
    return done_testing();
}
