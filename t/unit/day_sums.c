/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/usage/decay_table.h"
#include "core/usage/day_sums.h"

static bool is(const struct wide *sum, uint64_t high, uint64_t low)
{
    return sum->word[0] == low && sum->word[1] == high && !sum->word[2] && !sum->word[3];
}

static bool is_before(const struct day_list *list, size_t i, size_t j)
{
    const struct day_sum *one = day_list_at(list, i), *other = day_list_at(list, j);
    return one->day < other->day || (one->day == other->day && one->id < other->id);
}

static void sums(void)
{
    struct day_sums *sums = day_sums_create(0);
    bool sorted = true, summed = true;
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 20000; i++)
            day_sums_add_product(sums, i * 7 % 20 + 1,
                                 &(struct usage_rate){ i * 7919 % 20000 + 1, i, false, NULL }, 2);
    struct day_list list = day_sums_sorted(sums);
    ok(list.count == 20000, "a day and an id have one sum");
    for (size_t i = 1; i < 20000; i++)
        sorted &= is_before(&list, i - 1, i);
    ok(sorted, "sums are ordered by day and then by id");
    for (uint32_t i = 0; i < 20000; i++)
        summed &=
            day_list_at(&list, i)->day ==
            (day_list_at(&list, i)->id - 1) * 17679 % 20000 * 7 % 20 + 1; /* inverse of 7919 */
    ok(summed, "sums have the day and id with which they were added");
    struct wide more = { { 5, 0, 0, 0 } };
    day_sums_add_product(sums, 1, &(struct usage_rate){ 1, 9, true, NULL }, 1);
    day_sums_add_product(sums, 1, &(struct usage_rate){ 1, 9, false, NULL }, 1);
    day_sums_add(sums, 1, 1, &more);
    list = day_sums_sorted(sums);
    const struct day_sum *row = day_list_at(&list, 0);
    ok(row->day == 1 && row->id == 1 && is(&row->sum, 0, 5) && list.count == 20000,
       "sorted sums accept further amounts, and a subtracted amount cancels");
    day_sums_clear(sums);
    ok(day_sums_sorted(sums).count == 0, "no sums remain after a clear");
    day_sums_add_product(sums, 3,
                         &(struct usage_rate){ UINT64_MAX, (uint128)1 << 100, false, NULL }, 86400);
    list = day_sums_sorted(sums);
    row = day_list_at(&list, 0);
    ok(row->id == UINT64_MAX && row->sum.word[1] == (uint64_t)86400 << 36 && !row->sum.word[0],
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
        struct day_sums *sums = day_sums_create(1);
        uint64_t all = 0, found = 0;
        for (unsigned i = 0; i < 3000; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t amount = 3 * i;
            day_sums_add_product(sums, (uint32_t)(state >> 7) % 50,
                                 &(struct usage_rate){ state >> shift, i, false, &amount }, 1);
            all += i;
        }
        const struct day_list list = day_sums_sorted(sums);
        for (size_t i = 0; i < list.count; i++) {
            const struct day_sum *row = day_list_at(&list, i);
            found += row->sum.word[0];
            ordered &= !i || is_before(&list, i - 1, i);
            ordered &= row->tres[0] == 3 * row->sum.word[0];
        }
        ordered &= found == all;
        day_sums_destroy(sums);
    }
    ok(ordered, "ids of any size are in order, and no sum is lost");
}

static void amounts(void)
{
    struct day_sums *sums = day_sums_create(2), *others = day_sums_create(2);
    uint64_t counts[] = { 4, DAY_TRES_COUNT_LIMIT - 1 };
    day_sums_add_product(sums, 1, &(struct usage_rate){ 7, 0, false, counts }, 1000);
    day_sums_add_product(sums, 1, &(struct usage_rate){ 7, 0, true, counts }, 400);
    day_sums_add_tres(sums, 1, 7, 0, 5);
    struct day_list list = day_sums_sorted(sums);
    const struct day_sum *row = day_list_at(&list, 0);
    ok(list.count == 1 && row->id == 7 && row->tres[0] == 2405 && wide_is_zero(&row->sum) &&
           row->tres[1] == (DAY_TRES_COUNT_LIMIT - 1) * 600 && !day_sum_is_zero(row, 2),
       "a row has an amount of each TRES, even if nothing is charged");
    counts[1] = DAY_TRES_COUNT_LIMIT;
    day_sums_add_product(others, 3, &(struct usage_rate){ 7, 9, false, counts }, 100);
    day_sums_add_product(others, 3, &(struct usage_rate){ 8, 9, false, NULL }, 100);
    list = day_sums_sorted(others);
    row = day_list_at(&list, 0);
    ok(row->tres[0] == 400 && row->tres[1] == 0 && is(&row->sum, 0, 900),
       "a count that no cluster has is ignored");
    ok(day_sums_add_row(sums, 1, row, true) &&
           day_sums_add_row(sums, 1, day_list_at(&list, 1), false),
       "rows are added and subtracted");
    list = day_sums_sorted(sums);
    row = day_list_at(&list, 0);
    ok(list.count == 2 && row->tres[0] == 2005 && wide_is_negative(&row->sum) &&
           row->tres[1] == (DAY_TRES_COUNT_LIMIT - 1) * 600 && row[0].day == 1,
       "a subtracted row subtracts the sum and each amount");
    day_sums_add_tres(sums, 1, 7, 0, -(uint64_t)2005);
    day_sums_add_tres(sums, 1, 7, 1, -(DAY_TRES_COUNT_LIMIT - 1) * 600);
    day_sums_add(sums, 1, 7, &(struct wide){ { 900 } });
    list = day_sums_sorted(sums);
    ok(day_sum_is_zero(day_list_at(&list, 0), 2) && !day_sum_is_zero(day_list_at(&list, 1), 2),
       "a row of which all was subtracted is zero");
    day_sums_destroy(sums);
    day_sums_destroy(others);
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
    amounts();
    shares();
    return done_testing();
}
