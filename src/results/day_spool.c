/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "results/day_spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"

/* So many rows of sums are kept; then sums go, in order, to a temporary file. */
#define ROWS_KEPT 49152u

/* Sums in order in the file, of which some are read ahead. */
#define READ_AHEAD 64u
struct heap {
    size_t first, count; /* in rows of the file */
    size_t next;         /* of `count`: not handed out yet */
    size_t ahead_from, ahead_count;
    struct day_sum ahead[READ_AHEAD];
};

struct store {
    struct day_sums *sums;
    size_t next; /* of the sums in order */
    FILE *file;
    size_t written;
    struct heap *heaps;
    size_t heap_count;
};

struct day_spool {
    struct store totals;
    struct store changes;  /* of the units a second, from that day on */
    struct day_sum *rates; /* the units a second of the day taken last, by id */
    size_t rate_count;
};

static void store_free(struct store *store)
{
    day_sums_destroy(store->sums);
    if (store->file)
        fclose(store->file);
    free(store->heaps);
}

struct day_spool *day_spool_create(void)
{
    struct day_spool *pile = memory_zeroed(1, sizeof *pile);
    pile->totals.sums = day_sums_create();
    pile->changes.sums = day_sums_create();
    return pile;
}

void day_spool_destroy(struct day_spool *pile)
{
    if (!pile)
        return;
    store_free(&pile->totals);
    store_free(&pile->changes);
    free(pile->rates);
    free(pile);
}

static int no_room(struct error *err)
{
    return fail(err, errno == ENOSPC ? ERROR_FULL : ERROR_OTHER,
                "cannot keep the usage of days in a temporary file: %s", strerror(errno));
}

int day_beyond_range(uint64_t id, struct error *err)
{
    return fail(err, ERROR_DATA,
                "the usage of association %" PRIu64 " on a day is beyond the range of our integers",
                id);
}

static int spill(struct store *store, const struct day_sum *sums, size_t count, struct error *err)
{
    if (!store->file && !(store->file = tmpfile()))
        return no_room(err);
    if (fwrite(sums, sizeof *sums, count, store->file) != count)
        return no_room(err);
    store->heaps = memory_resized(store->heaps, store->heap_count + 1, sizeof *store->heaps);
    store->heaps[store->heap_count++] = (struct heap){ .first = store->written, .count = count };
    store->written += count;
    day_sums_clear(store->sums);
    return 0;
}

/* Rows that are parts of one sum become one, which may be all the room that is needed for now. */
static int make_room(struct store *store, struct error *err)
{
    if (day_sums_held(store->sums) < ROWS_KEPT)
        return 0;
    size_t count;
    const struct day_sum *sums = day_sums_sorted(store->sums, &count);
    return count < ROWS_KEPT / 2 ? 0 : spill(store, sums, count, err);
}

static int store_add(struct store *store, uint32_t day, uint64_t id, uint128 units,
                     uint64_t seconds, bool negative, struct error *err)
{
    if (make_room(store, err))
        return -1;
    day_sums_add_product(store->sums, day, id, units, seconds, negative);
    return 0;
}

int day_spool_add_product(struct day_spool *pile, uint32_t day, uint64_t id, uint128 units,
                          uint64_t seconds, bool negative, struct error *err)
{
    return store_add(&pile->totals, day, id, units, seconds, negative, err);
}

int day_spool_add(struct day_spool *pile, uint32_t day, uint64_t id, const struct wide *more,
                  struct error *err)
{
    if (make_room(&pile->totals, err))
        return -1;
    return day_sums_add(pile->totals.sums, day, id, more) ? 0 : day_beyond_range(id, err);
}

int day_spool_add_rate(struct day_spool *pile, uint32_t first, uint32_t end, uint64_t id,
                       uint128 units, bool negative, struct error *err)
{
    if (store_add(&pile->changes, first, id, units, 1, negative, err))
        return -1;
    return store_add(&pile->changes, end, id, units, 1, !negative, err);
}

/* The next sum of a heap, in *sum; NULL where there is none. */
static int look_at(struct store *store, struct heap *heap, const struct day_sum **sum,
                   struct error *err)
{
    *sum = NULL;
    if (heap->next == heap->count)
        return 0;
    if (heap->next < heap->ahead_from || heap->next >= heap->ahead_from + heap->ahead_count) {
        size_t left = heap->count - heap->next, count = left < READ_AHEAD ? left : READ_AHEAD;
        off_t at = (off_t)((heap->first + heap->next) * sizeof *heap->ahead);
        if (fseeko(store->file, at, SEEK_SET) ||
            fread(heap->ahead, sizeof *heap->ahead, count, store->file) != count)
            return no_room(err);
        heap->ahead_from = heap->next;
        heap->ahead_count = count;
    }
    *sum = &heap->ahead[heap->next - heap->ahead_from];
    return 0;
}

/* Add to `into`, as sums of `day`, what is stored for days from `first` to `day` and was not taken.
 */
static int take(struct store *store, uint32_t first, uint32_t day, struct day_sums *into,
                struct error *err)
{
    size_t count;
    const struct day_sum *sums = day_sums_sorted(store->sums, &count), *sum;
    for (; store->next < count && sums[store->next].day <= day; store->next++) {
        sum = &sums[store->next];
        if (sum->day >= first && !day_sums_add(into, day, sum->id, &sum->sum))
            return day_beyond_range(sum->id, err);
    }
    for (size_t i = 0; i < store->heap_count; i++)
        for (;; store->heaps[i].next++) {
            if (look_at(store, &store->heaps[i], &sum, err))
                return -1;
            if (!sum || sum->day > day)
                break;
            if (sum->day >= first && !day_sums_add(into, day, sum->id, &sum->sum))
                return day_beyond_range(sum->id, err);
        }
    return 0;
}

/* Both are in the order of ids. */
static int change_rates(struct day_spool *pile, const struct day_sum *changes, size_t count,
                        struct error *err)
{
    struct day_sum *rates = memory_zeroed(pile->rate_count + count, sizeof *rates);
    size_t rate_count = 0, old = 0, new = 0;
    int result = 0;
    while (!result && (old < pile->rate_count || new < count)) {
        struct day_sum *rate = &rates[rate_count];
        if (new == count || (old < pile->rate_count && pile->rates[old].id <= changes[new].id))
            *rate = pile->rates[old++];
        else
            *rate = (struct day_sum){ .id = changes[new].id };
        if (new < count && changes[new].id == rate->id &&
            !wide_add(&rate->sum, &changes[new ++].sum))
            result = day_beyond_range(rate->id, err);
        rate_count += !wide_is_zero(&rate->sum);
    }
    free(pile->rates);
    pile->rates = rates;
    pile->rate_count = rate_count;
    return result;
}

static int bring_rates_to(struct day_spool *pile, uint32_t day, struct error *err)
{
    struct day_sums *due = day_sums_create();
    int result = take(&pile->changes, 0, day, due, err);
    size_t count;
    const struct day_sum *changes = day_sums_sorted(due, &count);
    if (!result && count)
        result = change_rates(pile, changes, count, err);
    day_sums_destroy(due);
    return result;
}

int day_spool_take(struct day_spool *pile, uint32_t day, uint64_t seconds, struct day_sums *into,
                   struct error *err)
{
    if (take(&pile->totals, day, day, into, err) || bring_rates_to(pile, day, err))
        return -1;
    for (size_t i = 0; i < pile->rate_count; i++) {
        struct wide used = wide_times(&pile->rates[i].sum, seconds);
        if (!day_sums_add(into, day, pile->rates[i].id, &used))
            return day_beyond_range(pile->rates[i].id, err);
    }
    return 0;
}

static void store_rewind(struct store *store)
{
    store->next = 0;
    for (size_t i = 0; i < store->heap_count; i++)
        store->heaps[i].next = 0;
}

void day_spool_rewind(struct day_spool *pile)
{
    store_rewind(&pile->totals);
    store_rewind(&pile->changes);
    pile->rate_count = 0;
}
