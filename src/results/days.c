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
 * Maximum number of sums in memory.  If there are more, sums are sorted and written to a temporary
 * file.
 */
#define ROWS_KEPT 49152u

/* A sorted sequence of sums in the file, with a read-ahead buffer. */
#define READ_AHEAD 64u
struct days_chunk {
    size_t first, count; /* position and number of its rows in the file */
    size_t next;         /* first of `count` rows that was not taken yet */
    size_t ahead_from, ahead_count;
    struct day_sum ahead[READ_AHEAD];
};

struct store {
    struct day_sums *sums;
    size_t next; /* first of the sorted sums that was not taken yet */
    FILE *file;
    const char *directory; /* directory of the file */
    size_t written;
    struct days_chunk *chunks;
    size_t chunk_count;
};

struct day_spool {
    struct store totals;
    struct store changes; /* changes of the rate (units per second) from a day on */
    /* Rates (units per second) on the day that was taken last, in ascending order of id. */
    struct day_sum *rates;
    size_t rate_count;
};

static void store_free(struct store *store)
{
    day_sums_destroy(store->sums);
    if (store->file)
        fclose(store->file);
    free(store->chunks);
}

struct day_spool *day_spool_create(void)
{
    struct day_spool *spool = memory_zeroed(1, sizeof *spool);
    spool->totals.sums = day_sums_create();
    spool->changes.sums = day_sums_create();
    return spool;
}

void day_spool_destroy(struct day_spool *spool)
{
    if (!spool)
        return;
    store_free(&spool->totals);
    store_free(&spool->changes);
    free(spool->rates);
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

static int spill(struct store *store, const struct day_sum *sums, size_t count, struct error *err)
{
    if (!store->file && !(store->file = file_temporary(&store->directory)))
        return fail_spilling(store, err);
    if (fseeko(store->file, 0, SEEK_END) || fwrite(sums, sizeof *sums, count, store->file) != count)
        return fail_spilling(store, err);
    *memory_append(&store->chunks, &store->chunk_count) =
        (struct days_chunk){ .first = store->written, .count = count };
    store->written += count;
    day_sums_clear(store->sums);
    return 0;
}

/* Merges rows of the same day and id first.  That may free enough memory to avoid the file. */
static int days_make_room(struct store *store, struct error *err)
{
    if (day_sums_held(store->sums) < ROWS_KEPT)
        return 0;
    size_t count;
    const struct day_sum *sums = day_sums_sorted(store->sums, &count);
    return count < ROWS_KEPT / 2 ? 0 : spill(store, sums, count, err);
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

int day_spool_add_rate(struct day_spool *spool, uint32_t first, uint32_t end,
                       const struct usage_rate *rate, struct error *err)
{
    struct usage_rate opposite = { rate->id, rate->units, !rate->negative };
    if (store_add(&spool->changes, first, rate, 1, err))
        return -1;
    return store_add(&spool->changes, end, &opposite, 1, err);
}

static int spill_rest(struct store *store, struct error *err)
{
    size_t count;
    if (!store->file)
        return 0;
    const struct day_sum *sums = day_sums_sorted(store->sums, &count);
    if (count && spill(store, sums, count, err))
        return -1;
    day_sums_destroy(store->sums);
    store->sums = day_sums_create();
    return 0;
}

int day_spool_spill_rest(struct day_spool *spool, struct error *err)
{
    return spill_rest(&spool->totals, err) || spill_rest(&spool->changes, err) ? -1 : 0;
}

/* Sets `*sum` to the next sum of a chunk, or to NULL at its end. */
static int days_peek(struct store *store, struct days_chunk *chunk, const struct day_sum **sum,
                     struct error *err)
{
    *sum = NULL;
    if (chunk->next == chunk->count)
        return 0;
    if (chunk->next < chunk->ahead_from || chunk->next >= chunk->ahead_from + chunk->ahead_count) {
        size_t left = chunk->count - chunk->next, count = left < READ_AHEAD ? left : READ_AHEAD;
        off_t at = (off_t)((chunk->first + chunk->next) * sizeof *chunk->ahead);
        if (fseeko(store->file, at, SEEK_SET) ||
            fread(chunk->ahead, sizeof *chunk->ahead, count, store->file) != count)
            return fail_spilling(store, err);
        chunk->ahead_from = chunk->next;
        chunk->ahead_count = count;
    }
    *sum = &chunk->ahead[chunk->next - chunk->ahead_from];
    return 0;
}

/*
 * Adds all sums of the days from `first` to `day` that were not taken yet to `into`, as sums of
 * `day`.
 */
static int results_days_take(struct store *store, uint32_t first, uint32_t day,
                             struct day_sums *into, struct error *err)
{
    size_t count;
    const struct day_sum *sums = day_sums_sorted(store->sums, &count), *sum;
    for (; store->next < count && sums[store->next].day <= day; store->next++) {
        sum = &sums[store->next];
        if (sum->day >= first && !day_sums_add(into, day, sum->id, &sum->sum))
            return day_beyond_range(sum->id, err);
    }
    for (size_t i = 0; i < store->chunk_count; i++)
        for (;; store->chunks[i].next++) {
            if (days_peek(store, &store->chunks[i], &sum, err))
                return -1;
            if (!sum || sum->day > day)
                break;
            if (sum->day >= first && !day_sums_add(into, day, sum->id, &sum->sum))
                return day_beyond_range(sum->id, err);
        }
    return 0;
}

/* Merges the changes into the rates; the changes and the rates are in order of ids. */
static int change_rates(struct day_spool *spool, const struct day_sum *changes, size_t count,
                        struct error *err)
{
    struct day_sum *rates = memory_zeroed(spool->rate_count + count, sizeof *rates);
    size_t rate_count = 0, old = 0, new = 0;
    int result = 0;
    while (!result && (old < spool->rate_count || new < count)) {
        struct day_sum *rate = &rates[rate_count];
        if (new == count || (old < spool->rate_count && spool->rates[old].id <= changes[new].id))
            *rate = spool->rates[old++];
        else
            *rate = (struct day_sum){ .id = changes[new].id };
        if (new < count && changes[new].id == rate->id &&
            !wide_add(&rate->sum, &changes[new ++].sum))
            result = day_beyond_range(rate->id, err);
        rate_count += !wide_is_zero(&rate->sum);
    }
    free(spool->rates);
    spool->rates = rates;
    spool->rate_count = rate_count;
    return result;
}

static int update_rates(struct day_spool *spool, uint32_t day, struct error *err)
{
    struct day_sums *due = day_sums_create();
    int result = results_days_take(&spool->changes, 0, day, due, err);
    size_t count;
    const struct day_sum *changes = day_sums_sorted(due, &count);
    if (!result && count)
        result = change_rates(spool, changes, count, err);
    day_sums_destroy(due);
    return result;
}

int day_spool_take(struct day_spool *spool, uint32_t day, uint64_t seconds, struct day_sums *into,
                   struct error *err)
{
    if (results_days_take(&spool->totals, day, day, into, err) || update_rates(spool, day, err))
        return -1;
    for (size_t i = 0; i < spool->rate_count; i++) {
        struct wide used = wide_times(&spool->rates[i].sum, seconds);
        if (!day_sums_add(into, day, spool->rates[i].id, &used))
            return day_beyond_range(spool->rates[i].id, err);
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
    spool->rate_count = 0;
}

struct days *days_create(uint64_t from, uint64_t now)
{
    uint64_t first = calendar_day(from);
    return days_create_at(first < from ? calendar_next_day(from) : first, now);
}

struct days *days_create_at(uint64_t first, uint64_t now)
{
    struct days *days = memory_zeroed(1, sizeof *days);
    size_t room = 0;
    days->now = now;
    days->checkpointed = day_spool_create();
    days->open = day_spool_create();
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

int days_add_rollup(struct days *days, const struct slice *interval, const struct rollup *rollup,
                    uint128 price, struct error *err)
{
    uint64_t id = interval->own;
    uint64_t start = rollup->start > interval->start ? rollup->start : interval->start;
    uint64_t end = rollup->end < interval->end ? rollup->end : interval->end;
    uint128 units;
    struct wide before, after;
    if (!days->count)
        return 0;
    if (start < days->starts[0])
        start = days->starts[0];
    if (end > days->now)
        end = days->now;
    if (__builtin_mul_overflow(price, (uint128)rollup->alloc_secs, &units) ||
        !day_share(units, rollup->start, rollup->end, start, &before))
        return day_beyond_range(id, err);
    for (size_t day = 0; start < end; start = days->starts[day + 1], before = after) {
        day = find_day(days, start);
        uint64_t stop = end < days->starts[day + 1] ? end : days->starts[day + 1];
        struct wide share;
        if (!day_share(units, rollup->start, rollup->end, stop, &after))
            return day_beyond_range(id, err);
        share = after;
        if (!wide_subtract(&share, &before))
            return day_beyond_range(id, err);
        if (day_spool_add(days->checkpointed, (uint32_t)day, id, &share, err))
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
