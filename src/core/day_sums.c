/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/day_sums.h"

#include <stdlib.h>

#include "util/memory.h"

/* The sums lie one behind another, and a table of their places is looked up by hash. */
struct day_sums {
    struct day_sum *rows;
    size_t count, room;
    uint32_t *places; /* a row's place and 1; 0: free */
    size_t mask;      /* one less than how many places there are, a power of two */
    bool sorted;
};

#define FIRST_PLACES 1024u

struct day_sums *day_sums_create(void)
{
    struct day_sums *sums = memory_zeroed(1, sizeof *sums);
    sums->mask = FIRST_PLACES - 1;
    sums->places = memory_zeroed(FIRST_PLACES, sizeof *sums->places);
    return sums;
}

void day_sums_destroy(struct day_sums *sums)
{
    if (!sums)
        return;
    free(sums->rows);
    free(sums->places);
    free(sums);
}

size_t day_sums_count(const struct day_sums *sums)
{
    return sums->count;
}

static size_t hash_of(uint32_t day, uint64_t id)
{
    uint64_t mixed = (id ^ ((uint64_t)day << 40)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed ^ mixed >> 32);
}

/* Where the sum is to be found, or put. */
static uint32_t *place_of(const struct day_sums *sums, uint32_t day, uint64_t id)
{
    size_t at = hash_of(day, id) & sums->mask;
    while (sums->places[at]) {
        const struct day_sum *row = &sums->rows[sums->places[at] - 1];
        if (row->id == id && row->day == day)
            break;
        at = (at + 1) & sums->mask;
    }
    return &sums->places[at];
}

static void place_all(struct day_sums *sums, size_t places)
{
    free(sums->places);
    sums->places = memory_zeroed(places, sizeof *sums->places);
    sums->mask = places - 1;
    for (size_t i = 0; i < sums->count; i++)
        *place_of(sums, sums->rows[i].day, sums->rows[i].id) = (uint32_t)(i + 1);
    sums->sorted = false;
}

bool day_sums_has(struct day_sums *sums, uint32_t day, uint64_t id)
{
    if (sums->sorted)
        place_all(sums, sums->mask + 1);
    return *place_of(sums, day, id) != 0;
}

static struct wide *sum_of(struct day_sums *sums, uint32_t day, uint64_t id)
{
    if (sums->sorted || sums->count * 4 >= sums->mask * 3)
        place_all(sums, sums->count * 4 >= sums->mask * 3 ? (sums->mask + 1) * 2 : sums->mask + 1);
    uint32_t *place = place_of(sums, day, id);
    if (*place)
        return &sums->rows[*place - 1].sum;
    if (sums->count == sums->room) {
        sums->room = sums->room ? sums->room + sums->room / 2 : FIRST_PLACES;
        sums->rows = memory_resized(sums->rows, sums->room, sizeof *sums->rows);
    }
    sums->rows[sums->count] = (struct day_sum){ .id = id, .day = day };
    *place = (uint32_t)++sums->count;
    return &sums->rows[sums->count - 1].sum;
}

bool day_sums_add_product(struct day_sums *sums, uint32_t day, uint64_t id, uint128 units,
                          uint64_t seconds, bool negative)
{
    return wide_add_product(sum_of(sums, day, id), units, seconds, negative);
}

bool day_sums_add(struct day_sums *sums, uint32_t day, uint64_t id, const struct wide *more)
{
    return wide_add(sum_of(sums, day, id), more);
}

static int by_day_and_id(const void *a, const void *b)
{
    const struct day_sum *one = a, *other = b;
    if (one->day != other->day)
        return one->day < other->day ? -1 : 1;
    return (one->id > other->id) - (one->id < other->id);
}

const struct day_sum *day_sums_sorted(struct day_sums *sums)
{
    if (!sums->sorted && sums->count)
        qsort(sums->rows, sums->count, sizeof *sums->rows, by_day_and_id);
    sums->sorted = true;
    return sums->rows;
}

void day_sums_clear(struct day_sums *sums)
{
    sums->count = 0;
    place_all(sums, sums->mask + 1);
}

bool day_share(uint128 units, uint64_t start, uint64_t end, uint64_t until, struct wide *share)
{
    *share = (struct wide){ { 0 } };
    if (until <= start)
        return true;
    if (until > end)
        until = end;
    if (!wide_add_product(share, units, until - start, false))
        return false;
    struct natural number = natural_of_wide(share);
    natural_divide(&number, end - start);
    *share = (struct wide){ { 0 } };
    for (unsigned i = 0; i < number.length; i++)
        share->word[i] = number.word[i];
    return true;
}
