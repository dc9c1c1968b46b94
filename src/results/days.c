/* SPDX-License-Identifier: MIT */
#include "results/days.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/usage/calendar.h"
#include "core/usage/decay_table.h"
#include "core/usage/usage_owners.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"
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

struct days *days_create(uint64_t from, uint64_t now, const struct kept_tres *kept)
{
    uint64_t first = calendar_day(from);
    return days_create_at(first < from ? calendar_next_day(from) : first, now, kept);
}

static const struct kept_tres no_tres = { 0 };

struct days *days_create_at(uint64_t first, uint64_t now, const struct kept_tres *kept)
{
    struct days *days = memory_zeroed(1, sizeof *days);
    size_t room = 0;
    days->now = now;
    days->kept = kept ? kept : &no_tres;
    days->used_numbers = KEPT_TRES_LIMIT;
    days->checkpointed = day_spool_create(days->kept->count);
    days->open = day_spool_create(days->kept->count);
    for (uint64_t start = first;; start = calendar_next_day(start)) {
        if (days->count + 1 >= room)
            days->starts = memory_resized(days->starts, room = room * 2 + 16, sizeof *days->starts);
        days->starts[days->count] = start;
        if (start > now)
            break;
        days->count++;
    }
    days->earliest = days->count;
    return days;
}

void days_destroy(struct days *days)
{
    if (!days)
        return;
    day_spool_destroy(days->checkpointed);
    day_spool_destroy(days->open);
    free(days->starts);
    free(days);
}

/* Returns the last day that begins at `time` or earlier, or else the first day. */
static size_t search(const struct days *days, uint64_t time)
{
    size_t low = 0, high = days->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (time < days->starts[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

void days_give_up(struct days *days, struct findings *findings, const struct error *err)
{
    log_note("the usage of days is not stored: %s", err->message);
    findings_add(findings, FINDING_DAYS_INCOMPLETE, 0, "%s", err->message);
    days->failed = true;
}

size_t days_find(const struct days *days, uint64_t start)
{
    size_t day = search(days, start);
    return day < days->count && days->starts[day] == start ? day : days->count;
}

/* Returns the day that contains `time`.  Consecutive jobs are mostly in the same day. */
static size_t find_day(struct days *days, uint64_t time)
{
    size_t day = days->last;
    if (time < days->starts[day] || time >= days->starts[day + 1])
        day = days->last = search(days, time);
    if (day < days->earliest)
        days->earliest = day;
    return day;
}

/* Maximum number of whole days that are added one by one; longer usage is added as a rate. */
#define WHOLE_DAYS 3u

static uint64_t days_part_of(const struct days *days, size_t day, uint64_t start, uint64_t end)
{
    uint64_t from = days->starts[day] > start ? days->starts[day] : start;
    return (end < days->starts[day + 1] ? end : days->starts[day + 1]) - from;
}

int days_add(struct days *days, bool checkpointed, const struct usage_rate *rate, uint64_t start,
             uint64_t end, struct error *err)
{
    struct day_spool *spool = checkpointed ? days->checkpointed : days->open;
    if (!days->count)
        return 0;
    if (start < days->starts[0])
        start = days->starts[0];
    if (end > days->now)
        end = days->now;
    if (start >= end)
        return 0;
    size_t first = find_day(days, start), last = first;
    if (end > days->starts[first + 1])
        last = find_day(days, end - 1);
    bool has_rate = last - first > WHOLE_DAYS;
    if (has_rate && day_spool_add_rate(spool, (uint32_t)first + 1, (uint32_t)last, rate, err))
        return -1;
    for (size_t day = first; day <= last; day = has_rate && day == first ? last : day + 1)
        if (day_spool_add_product(spool, (uint32_t)day, rate, days_part_of(days, day, start, end),
                                  err))
            return -1;
    return 0;
}

/* A rollup's usage of a day: the units, and the TRES-seconds if the TRES is kept. */
struct rollup_share {
    struct wide units, seconds;
};

/* Sets `*share` to the usage before `until`; see day_share(). */
static bool share_until(const struct rollup *rollup, uint128 units, uint64_t until,
                        struct rollup_share *share)
{
    return day_share(units, rollup->start, rollup->end, until, &share->units) &&
           day_share(rollup->alloc_secs, rollup->start, rollup->end, until, &share->seconds);
}

static int add_share(struct days *days, uint32_t day, uint64_t id, const struct rollup_share *share,
                     size_t tres, struct error *err)
{
    if (tres < days->kept->count &&
        day_spool_add_tres(days->checkpointed, day, id, tres, share->seconds.word[0], err))
        return -1;
    return wide_is_zero(&share->units)
               ? 0
               : day_spool_add(days->checkpointed, day, id, &share->units, err);
}

int days_add_rollup(struct days *days, const struct slice *interval, const struct rollup *rollup,
                    uint128 price, size_t tres, struct error *err)
{
    uint64_t id = interval->own;
    uint64_t start = rollup->start > interval->start ? rollup->start : interval->start;
    uint64_t end = rollup->end < interval->end ? rollup->end : interval->end;
    uint128 units;
    struct rollup_share before, after;
    if (rollup->alloc_secs / (rollup->end - rollup->start) >= DAY_TRES_COUNT_LIMIT)
        tres = days->kept->count;
    if (!days->count || (!price && tres >= days->kept->count))
        return 0;
    if (start < days->starts[0])
        start = days->starts[0];
    if (end > days->now)
        end = days->now;
    if (__builtin_mul_overflow(price, (uint128)rollup->alloc_secs, &units) ||
        !share_until(rollup, units, start, &before))
        return day_beyond_range(id, err);
    for (size_t day = 0; start < end; start = days->starts[day + 1], before = after) {
        day = find_day(days, start);
        uint64_t stop = end < days->starts[day + 1] ? end : days->starts[day + 1];
        if (!share_until(rollup, units, stop, &after))
            return day_beyond_range(id, err);
        struct rollup_share share = after;
        if (!wide_subtract(&share.units, &before.units) ||
            !wide_subtract(&share.seconds, &before.seconds))
            return day_beyond_range(id, err);
        if (add_share(days, (uint32_t)day, id, &share, tres, err))
            return -1;
    }
    return 0;
}

int days_spill_rest(struct days *days, struct error *err)
{
    return day_spool_spill_rest(days->checkpointed, err) || day_spool_spill_rest(days->open, err)
               ? -1
               : 0;
}

int days_take(struct days *days, struct day_spool *spool, size_t day, struct day_sums *into,
              struct error *err)
{
    uint64_t seconds = days->starts[day + 1] - days->starts[day];
    return day_spool_take(spool, (uint32_t)day, seconds, into, err);
}
