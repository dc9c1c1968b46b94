/* SPDX-License-Identifier: MIT */
#include "results/day_spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/file.h"
#include "util/memory.h"

/*
 * Maximum number of sums in memory, if they have no amounts by TRES.  If there are more, sums are
 * sorted and written to a temporary file.
 */
#define ROWS_KEPT 49152u

/* A sorted sequence of sums in the file, with a read-ahead buffer. */
#define READ_AHEAD 64u
struct days_chunk {
    size_t first, count; /* position and number of its rows in the file */
    size_t next;         /* first of `count` rows that was not taken yet */
    size_t ahead_from;   /* first row of `ahead` */
    struct day_list ahead;
};

struct store {
    struct day_sums *sums;
    size_t tres, size; /* number of amounts in a row, and its size in bytes */
    size_t next;       /* first of the sorted sums that was not taken yet */
    FILE *file;
    const char *directory; /* directory of the file */
    size_t written;
    struct days_chunk *chunks;
    size_t chunk_count;
};

/* Returns the maximum number of sums with amounts by TRES, in the same memory. */
static size_t rows_kept(const struct store *store)
{
    return ROWS_KEPT * day_sum_size(0) / store->size;
}

struct day_spool {
    struct store totals;
    struct store changes; /* changes of the rate (usage per second) from a day on */
    /* Rates (usage per second) on the day that was taken last, in ascending order of id. */
    struct day_list rates;
};

static void spool_rows_free(struct day_list *list)
{
    free((char *)list->rows);
    list->rows = NULL;
    list->count = 0;
}

static struct store spool_store_of(size_t tres)
{
    return (
        struct store){ .sums = day_sums_create(tres), .tres = tres, .size = day_sum_size(tres) };
}

static void store_free(struct store *store)
{
    day_sums_destroy(store->sums);
    if (store->file)
        fclose(store->file);
    for (size_t i = 0; i < store->chunk_count; i++)
        spool_rows_free(&store->chunks[i].ahead);
    free(store->chunks);
}

struct day_spool *day_spool_create(size_t tres)
{
    struct day_spool *spool = memory_zeroed(1, sizeof *spool);
    spool->totals = spool_store_of(tres);
    spool->changes = spool_store_of(tres);
    spool->rates = (struct day_list){ .size = day_sum_size(tres), .tres = tres };
    return spool;
}

void day_spool_destroy(struct day_spool *spool)
{
    if (!spool)
        return;
    store_free(&spool->totals);
    store_free(&spool->changes);
    spool_rows_free(&spool->rates);
    free(spool);
}

static int fail_spilling(const struct store *store, struct error *err)
{
    return fail(
        err, file_no_room(errno) ? ERROR_FULL : ERROR_OTHER,
        "cannot use a temporary file for the usage of days in '%s': %s; free space there or "
        "set TMPDIR to another directory",
        store->directory, strerror(errno));
}

int day_beyond_range(uint64_t id, struct error *err)
{
    return fail(err, ERROR_DATA, "the usage of association %" PRIu64 " on one day is out of range",
                id);
}

static int spill(struct store *store, const struct day_list *list, struct error *err)
{
    if (!store->file && !(store->file = file_temporary(&store->directory)))
        return fail_spilling(store, err);
    if (fseeko(store->file, 0, SEEK_END) ||
        fwrite(list->rows, list->size, list->count, store->file) != list->count)
        return fail_spilling(store, err);
    *memory_append(&store->chunks, &store->chunk_count) =
        (struct days_chunk){ .first = store->written, .count = list->count };
    store->written += list->count;
    day_sums_clear(store->sums);
    return 0;
}

/* Merges rows of the same day and id first.  That may free enough memory to avoid the file. */
static int days_make_room(struct store *store, struct error *err)
{
    if (day_sums_held(store->sums) < rows_kept(store))
        return 0;
    const struct day_list list = day_sums_sorted(store->sums);
    return list.count < rows_kept(store) / 2 ? 0 : spill(store, &list, err);
}

static int store_add(struct store *store, uint32_t day, const struct usage_rate *rate,
                     uint64_t seconds, struct error *err)
{
    if (days_make_room(store, err))
        return -1;
    day_sums_add_product(store->sums, day, rate, seconds);
    return 0;
}

int day_spool_add_product(struct day_spool *spool, uint32_t day, const struct usage_rate *rate,
                          uint64_t seconds, struct error *err)
{
    return store_add(&spool->totals, day, rate, seconds, err);
}

int day_spool_add(struct day_spool *spool, uint32_t day, uint64_t id, const struct wide *more,
                  struct error *err)
{
    if (days_make_room(&spool->totals, err))
        return -1;
    return day_sums_add(spool->totals.sums, day, id, more) ? 0 : day_beyond_range(id, err);
}

int day_spool_add_tres(struct day_spool *spool, uint32_t day, uint64_t id, size_t tres,
                       uint64_t amount, struct error *err)
{
    if (days_make_room(&spool->totals, err))
        return -1;
    day_sums_add_tres(spool->totals.sums, day, id, tres, amount);
    return 0;
}

int day_spool_add_rate(struct day_spool *spool, uint32_t first, uint32_t end,
                       const struct usage_rate *rate, struct error *err)
{
    struct usage_rate opposite = { rate->id, rate->units, !rate->negative, rate->tres };
    if (store_add(&spool->changes, first, rate, 1, err))
        return -1;
    return store_add(&spool->changes, end, &opposite, 1, err);
}

static int spill_rest(struct store *store, struct error *err)
{
    if (!store->file)
        return 0;
    const struct day_list list = day_sums_sorted(store->sums);
    if (list.count && spill(store, &list, err))
        return -1;
    day_sums_destroy(store->sums);
    store->sums = day_sums_create(store->tres);
    return 0;
}

int day_spool_spill_rest(struct day_spool *spool, struct error *err)
{
    return spill_rest(&spool->totals, err) || spill_rest(&spool->changes, err) ? -1 : 0;
}

static int read_ahead(struct store *store, struct days_chunk *chunk, struct error *err)
{
    size_t left = chunk->count - chunk->next, count = left < READ_AHEAD ? left : READ_AHEAD;
    off_t at = (off_t)((chunk->first + chunk->next) * store->size);
    char *rows = (char *)chunk->ahead.rows;
    if (!rows)
        rows = memory_resized(NULL, READ_AHEAD, store->size);
    chunk->ahead = (struct day_list){ .rows = rows, .size = store->size, .tres = store->tres };
    if (fseeko(store->file, at, SEEK_SET) || fread(rows, store->size, count, store->file) != count)
        return fail_spilling(store, err);
    chunk->ahead_from = chunk->next;
    chunk->ahead.count = count;
    return 0;
}

/* Sets `*sum` to the next row of a chunk, or to NULL at its end. */
static int days_peek(struct store *store, struct days_chunk *chunk, const struct day_sum **sum,
                     struct error *err)
{
    *sum = NULL;
    if (chunk->next == chunk->count)
        return 0;
    if ((chunk->next < chunk->ahead_from ||
         chunk->next >= chunk->ahead_from + chunk->ahead.count) &&
        read_ahead(store, chunk, err))
        return -1;
    *sum = day_list_at(&chunk->ahead, chunk->next - chunk->ahead_from);
    return 0;
}

/*
 * Adds all rows of the days from `first` to `day` that were not taken yet to `into`, as rows of
 * `day`.
 */
static int results_days_take(struct store *store, uint32_t first, uint32_t day,
                             struct day_sums *into, struct error *err)
{
    const struct day_list list = day_sums_sorted(store->sums);
    const struct day_sum *sum;
    for (; store->next < list.count; store->next++) {
        sum = day_list_at(&list, store->next);
        if (sum->day > day)
            break;
        if (sum->day >= first && !day_sums_add_row(into, day, sum, false))
            return day_beyond_range(sum->id, err);
    }
    for (size_t i = 0; i < store->chunk_count; i++)
        for (;; store->chunks[i].next++) {
            if (days_peek(store, &store->chunks[i], &sum, err))
                return -1;
            if (!sum || sum->day > day)
                break;
            if (sum->day >= first && !day_sums_add_row(into, day, sum, false))
                return day_beyond_range(sum->id, err);
        }
    return 0;
}

/* Merges the changes into the rates; the changes and the rates are in order of ids. */
static int change_rates(struct day_spool *spool, const struct day_list *changes, struct error *err)
{
    struct day_list *old = &spool->rates;
    size_t size = old->size, count = 0, at = 0, new = 0;
    char *rows = memory_resized(NULL, old->count + changes->count, size);
    int result = 0;
    while (!result && (at < old->count || new < changes->count)) {
        const struct day_sum *one = at < old->count ? day_list_at(old, at) : NULL;
        const struct day_sum *change = new < changes->count ? day_list_at(changes, new) : NULL;
        struct day_sum *rate = (struct day_sum *)(void *)(rows + count * size);
        bool is_known = one && (!change || one->id <= change->id);
        bool is_changed = change && (!one || change->id <= one->id);
        memcpy(rate, is_known ? one : change, size);
        if (is_known && is_changed && !day_sum_add(rate, change, false, old->tres))
            result = day_beyond_range(rate->id, err);
        at += is_known;
        new += is_changed;
        count += !day_sum_is_zero(rate, old->tres);
    }
    spool_rows_free(old);
    old->rows = rows;
    old->count = count;
    return result;
}

static int update_rates(struct day_spool *spool, uint32_t day, struct error *err)
{
    struct day_sums *due = day_sums_create(spool->changes.tres);
    int result = results_days_take(&spool->changes, 0, day, due, err);
    const struct day_list changes = day_sums_sorted(due);
    if (!result && changes.count)
        result = change_rates(spool, &changes, err);
    day_sums_destroy(due);
    return result;
}

int day_spool_take(struct day_spool *spool, uint32_t day, uint64_t seconds, struct day_sums *into,
                   struct error *err)
{
    if (results_days_take(&spool->totals, day, day, into, err) || update_rates(spool, day, err))
        return -1;
    for (size_t i = 0; i < spool->rates.count; i++) {
        const struct day_sum *rate = day_list_at(&spool->rates, i);
        struct wide used = wide_times(&rate->sum, seconds);
        if (!day_sums_add(into, day, rate->id, &used))
            return day_beyond_range(rate->id, err);
        for (size_t t = 0; t < spool->rates.tres; t++)
            day_sums_add_tres(into, day, rate->id, t, rate->tres[t] * seconds);
    }
    return 0;
}

static void store_rewind(struct store *store)
{
    store->next = 0;
    for (size_t i = 0; i < store->chunk_count; i++)
        store->chunks[i].next = 0;
}

void day_spool_rewind(struct day_spool *spool)
{
    store_rewind(&spool->totals);
    store_rewind(&spool->changes);
    spool->rates.count = 0;
}
