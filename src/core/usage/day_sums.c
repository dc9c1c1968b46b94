/* SPDX-License-Identifier: MIT */
#include "core/usage/day_sums.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/*
 * Most additions go to a recently used sum.  Job rows come in order of time, tasks of an array
 * follow each other, and a few users own most jobs.  A small hash table that fits in the
 * processor's cache finds the recent row of a sum.  On a miss, a new row is appended, even if an
 * older row of the same sum exists.  Sorting brings the rows of one sum together and adds them up,
 * which costs less than a full lookup for each addition.
 */
struct day_sums {
    char *rows; /* `size` bytes each: a struct day_sum with `tres` amounts */
    size_t size, tres;
    size_t count, room;
    size_t ordered; /* number of leading rows that are sorted and combined */
    uint32_t *seen; /* last row of a sum, by hash; a hint, because rows move; or NULL */
};

#define SEEN_BITS 12
#define FIRST_ROOM 64u

/*
 * A run creates sums for each day, and on a small site most of them stay empty.  So the large
 * arrays are allocated with the first row.
 */
struct day_sums *day_sums_create(size_t tres)
{
    struct day_sums *sums = memory_zeroed(1, sizeof *sums);
    sums->size = day_sum_size(tres);
    sums->tres = tres;
    return sums;
}

void day_sums_destroy(struct day_sums *sums)
{
    if (!sums)
        return;
    free(sums->rows);
    free(sums->seen);
    free(sums);
}

size_t day_sums_held(const struct day_sums *sums)
{
    return sums->count;
}

static inline struct day_sum *day_sums_at(const struct day_sums *sums, size_t i)
{
    return (struct day_sum *)(void *)(sums->rows + i * sums->size);
}

bool day_sum_add(struct day_sum *row, const struct day_sum *more, bool negative, size_t tres)
{
    if (!(negative ? wide_subtract : wide_add)(&row->sum, &more->sum))
        return false;
    for (size_t i = 0; i < tres; i++)
        row->tres[i] += negative ? -more->tres[i] : more->tres[i];
    return true;
}

bool day_sum_is_zero(const struct day_sum *row, size_t tres)
{
    uint64_t any = 0;
    for (size_t i = 0; i < tres; i++)
        any |= row->tres[i];
    return !any && wide_is_zero(&row->sum);
}

bool day_sum_is_in_range(const struct wide *sum)
{
    return sum->word[3] == (sum->word[2] >> 63 ? UINT64_MAX : 0);
}

static size_t day_sums_hash_of(uint32_t day, uint64_t id)
{
    uint64_t mixed = (id ^ (uint64_t)day << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed >> (64 - SEEN_BITS);
}

/* Returns the row of an association on a day, possibly a new one. */
static struct day_sum *day_sums_row_of(struct day_sums *sums, uint32_t day, uint64_t id)
{
    if (!sums->seen)
        sums->seen = memory_zeroed((size_t)1 << SEEN_BITS, sizeof *sums->seen);
    uint32_t *seen = &sums->seen[day_sums_hash_of(day, id)];
    if (*seen < sums->count) {
        struct day_sum *row = day_sums_at(sums, *seen);
        if (row->id == id && row->day == day)
            return row;
    }
    if (sums->count == sums->room) {
        sums->room += sums->room / 2 + FIRST_ROOM;
        sums->rows = memory_resized(sums->rows, sums->room, sums->size);
    }
    *seen = (uint32_t)sums->count;
    struct day_sum *row = day_sums_at(sums, sums->count++);
    memset(row, 0, sums->size);
    row->id = id;
    row->day = day;
    return row;
}

void day_sums_add_product(struct day_sums *sums, uint32_t day, const struct usage_rate *rate,
                          uint64_t seconds)
{
    struct day_sum *row = day_sums_row_of(sums, day, rate->id);
    uint64_t signed_seconds = rate->negative ? -seconds : seconds;
    wide_add_product(&row->sum, rate->units, seconds, rate->negative);
    for (size_t i = 0; rate->tres && i < sums->tres; i++)
        if (rate->tres[i] < DAY_TRES_COUNT_LIMIT)
            row->tres[i] += rate->tres[i] * signed_seconds;
}

bool day_sums_add(struct day_sums *sums, uint32_t day, uint64_t id, const struct wide *more)
{
    return day_sum_is_in_range(more) && wide_add(&day_sums_row_of(sums, day, id)->sum, more);
}

void day_sums_add_tres(struct day_sums *sums, uint32_t day, uint64_t id, size_t tres,
                       uint64_t amount)
{
    day_sums_row_of(sums, day, id)->tres[tres] += amount;
}

bool day_sums_add_row(struct day_sums *sums, uint32_t day, const struct day_sum *row, bool negative)
{
    return day_sum_is_in_range(&row->sum) &&
           day_sum_add(day_sums_row_of(sums, day, row->id), row, negative, sums->tres);
}

static int day_sums_compare(const struct day_sum *one, const struct day_sum *other)
{
    if (one->day != other->day)
        return one->day < other->day ? -1 : 1;
    return (one->id > other->id) - (one->id < other->id);
}

static int by_day_and_id(const void *a, const void *b)
{
    return day_sums_compare(a, b);
}

/* The least of several numbers, and the size in bits of the largest difference from it. */
struct spread {
    uint64_t least;
    unsigned bits;
};

static unsigned bits_of(uint64_t number)
{
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

static void find_spreads(const struct day_sums *sums, struct spread *days, struct spread *ids)
{
    uint64_t most_day = 0, most_id = 0;
    days->least = ids->least = UINT64_MAX;
    for (size_t i = 0; i < sums->count; i++) {
        const struct day_sum *row = day_sums_at(sums, i);
        days->least = row->day < days->least ? row->day : days->least;
        ids->least = row->id < ids->least ? row->id : ids->least;
        most_day = row->day > most_day ? row->day : most_day;
        most_id = row->id > most_id ? row->id : most_id;
    }
    days->bits = bits_of(most_day - days->least);
    ids->bits = bits_of(most_id - ids->least);
}

/* The counts of all values of a digit fit into the first-level cache. */
#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)

/* Sorts `from` into `to` by the digit at `bit`.  The sort is stable. */
static void order_by_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned bit)
{
    size_t place[DIGITS] = { 0 }, next = 0;
    for (size_t i = 0; i < count; i++)
        place[from[i] >> bit & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t here = place[digit];
        place[digit] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[from[i] >> bit & (DIGITS - 1)]++] = from[i];
}

/* Returns the rows in order, by a radix sort of keys that consist of a row's day, id and index. */
static char *by_digits(const struct day_sums *sums, const struct spread *days,
                       const struct spread *ids, unsigned place_bits)
{
    size_t count = sums->count;
    uint64_t *keys = memory_resized(NULL, count * 2, sizeof *keys);
    uint64_t *ordered = keys, *others = keys + count;
    for (size_t i = 0; i < count; i++) {
        const struct day_sum *row = day_sums_at(sums, i);
        uint64_t day = row->day - days->least, id = row->id - ids->least;
        keys[i] = (day << ids->bits | id) << place_bits | i;
    }
    unsigned end = place_bits + days->bits + ids->bits;
    for (unsigned bit = place_bits; bit < end; bit += DIGIT_BITS) {
        order_by_digit(ordered, others, count, bit);
        uint64_t *done = others;
        others = ordered;
        ordered = done;
    }
    char *rows = memory_resized(NULL, count, sums->size);
    uint64_t place = ((uint64_t)1 << place_bits) - 1;
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * sums->size, day_sums_at(sums, ordered[i] & place), sums->size);
    free(keys);
    return rows;
}

/*
 * Uses the radix sort if the parts of the keys fit into 64 bits, and qsort() otherwise.  They
 * usually fit, because the ids in a database are close together.
 */
static void day_sums_put_in_order(struct day_sums *sums)
{
    struct spread days, ids;
    unsigned place_bits = bits_of(sums->count - 1);
    find_spreads(sums, &days, &ids);
    if (days.bits + ids.bits + place_bits >= 64) {
        qsort(sums->rows, sums->count, sums->size, by_day_and_id);
        return;
    }
    char *rows = by_digits(sums, &days, &ids, place_bits);
    free(sums->rows);
    sums->rows = rows;
    sums->room = sums->count;
}

/* Adds up the rows of each sum, which are adjacent after sorting. */
static void bring_together(struct day_sums *sums)
{
    size_t kept = 0;
    for (size_t i = 1; i < sums->count; i++) {
        struct day_sum *last = day_sums_at(sums, kept), *row = day_sums_at(sums, i);
        if (!day_sums_compare(last, row))
            day_sum_add(last, row, false, sums->tres);
        else if (++kept != i)
            memcpy(day_sums_at(sums, kept), row, sums->size);
    }
    sums->count = kept + 1;
}

struct day_list day_sums_sorted(struct day_sums *sums)
{
    if (sums->ordered < sums->count) {
        day_sums_put_in_order(sums);
        bring_together(sums);
        sums->ordered = sums->count;
    }
    return (struct day_list){
        .rows = sums->rows, .count = sums->count, .size = sums->size, .tres = sums->tres
    };
}

void day_sums_clear(struct day_sums *sums)
{
    sums->count = sums->ordered = 0;
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
    *share = wide_of_natural(&number);
    return true;
}
