/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "results/days.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/calendar.h"
#include "core/day_sums.h"
#include "core/rollup.h"
#include "util/error.h"
#include "util/memory.h"

/* Memory must not grow with the number of jobs.  So many sums are kept; then they go, in order, to
 * a temporary file, of which they are gathered again a day at a time. */
#define SUMS_KEPT 65536u

/* Sums in order in the file, of which some are read ahead. */
#define READ_AHEAD 64u
struct heap {
    size_t first, count; /* in rows of the file */
    size_t next;         /* of `count`: not handed out yet */
    size_t ahead_from, ahead_count;
    struct day_sum ahead[READ_AHEAD];
};

struct day_pile {
    struct day_sums *sums;
    size_t next; /* of the sums in order */
    FILE *file;
    size_t written;
    struct heap *heaps;
    size_t heap_count;
};

static struct day_pile *pile_create(void)
{
    struct day_pile *pile = memory_zeroed(1, sizeof *pile);
    pile->sums = day_sums_create();
    return pile;
}

static void pile_destroy(struct day_pile *pile)
{
    if (!pile)
        return;
    day_sums_destroy(pile->sums);
    if (pile->file)
        fclose(pile->file);
    free(pile->heaps);
    free(pile);
}

static int no_room(struct error *err)
{
    return fail(err, ERROR_OTHER, "cannot keep the usage of days in a temporary file: %s",
                strerror(errno));
}

static int spill(struct day_pile *pile, struct error *err)
{
    size_t count = day_sums_count(pile->sums);
    if (!pile->file && !(pile->file = tmpfile()))
        return no_room(err);
    if (fwrite(day_sums_sorted(pile->sums), sizeof(struct day_sum), count, pile->file) != count)
        return no_room(err);
    pile->heaps = memory_resized(pile->heaps, pile->heap_count + 1, sizeof *pile->heaps);
    pile->heaps[pile->heap_count++] = (struct heap){ .first = pile->written, .count = count };
    pile->written += count;
    day_sums_clear(pile->sums);
    return 0;
}

void days_rewind(struct day_pile *pile)
{
    pile->next = 0;
    for (size_t i = 0; i < pile->heap_count; i++)
        pile->heaps[i].next = 0;
}

/* The next sum of a heap, in *sum; NULL where there is none. */
static int look_at(struct day_pile *pile, struct heap *heap, const struct day_sum **sum,
                   struct error *err)
{
    *sum = NULL;
    if (heap->next == heap->count)
        return 0;
    if (heap->next < heap->ahead_from || heap->next >= heap->ahead_from + heap->ahead_count) {
        size_t left = heap->count - heap->next, count = left < READ_AHEAD ? left : READ_AHEAD;
        off_t at = (off_t)((heap->first + heap->next) * sizeof *heap->ahead);
        if (fseeko(pile->file, at, SEEK_SET) ||
            fread(heap->ahead, sizeof *heap->ahead, count, pile->file) != count)
            return no_room(err);
        heap->ahead_from = heap->next;
        heap->ahead_count = count;
    }
    *sum = &heap->ahead[heap->next - heap->ahead_from];
    return 0;
}

static int beyond_range(uint64_t id, struct error *err)
{
    return fail(err, ERROR_DATA,
                "the usage of association %" PRIu64 " on a day is beyond the range of our integers",
                id);
}

static int add_to(struct day_sums *into, const struct day_sum *sum, struct error *err)
{
    return day_sums_add(into, sum->day, sum->id, &sum->sum) ? 0 : beyond_range(sum->id, err);
}

int days_take(struct day_pile *pile, uint32_t day, struct day_sums *into, struct error *err)
{
    const struct day_sum *sums = day_sums_sorted(pile->sums), *sum;
    while (pile->next < day_sums_count(pile->sums) && sums[pile->next].day < day)
        pile->next++;
    for (; pile->next < day_sums_count(pile->sums) && sums[pile->next].day == day; pile->next++)
        if (add_to(into, &sums[pile->next], err))
            return -1;
    for (size_t i = 0; i < pile->heap_count; i++)
        for (;; pile->heaps[i].next++) {
            if (look_at(pile, &pile->heaps[i], &sum, err))
                return -1;
            if (!sum || sum->day > day)
                break;
            if (sum->day == day && add_to(into, sum, err))
                return -1;
        }
    return 0;
}

struct days *days_create(uint64_t from, uint64_t now)
{
    struct days *days = memory_zeroed(1, sizeof *days);
    size_t room = 0;
    days->now = now;
    days->sealed = pile_create();
    days->open = pile_create();
    uint64_t first = calendar_day(from);
    if (first < from)
        first = calendar_next_day(from);
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
    pile_destroy(days->sealed);
    pile_destroy(days->open);
    free(days->starts);
    free(days);
}

/* The day that an instant is in, most likely the one that was found last. */
static size_t look_for_day(struct days *days, uint64_t instant)
{
    size_t low = days->last, high = days->count;
    if (instant >= days->starts[low] && instant < days->starts[low + 1])
        return low;
    for (low = 0; high - low > 1;) {
        size_t middle = low + (high - low) / 2;
        if (instant < days->starts[middle])
            high = middle;
        else
            low = middle;
    }
    return days->last = low;
}

static size_t find_day(struct days *days, uint64_t instant)
{
    size_t day = look_for_day(days, instant);
    if (day < days->earliest)
        days->earliest = day;
    return day;
}

static int make_room(struct day_pile *pile, struct error *err)
{
    return day_sums_count(pile->sums) < SUMS_KEPT ? 0 : spill(pile, err);
}

int days_add(struct days *days, bool sealed, uint64_t id, uint128 units, uint64_t start,
             uint64_t end, bool negative, struct error *err)
{
    struct day_pile *pile = sealed ? days->sealed : days->open;
    if (!days->count)
        return 0;
    if (start < days->starts[0])
        start = days->starts[0];
    if (end > days->now)
        end = days->now;
    for (size_t day = 0; start < end; start = days->starts[day + 1]) {
        day = find_day(days, start);
        uint64_t stop = end < days->starts[day + 1] ? end : days->starts[day + 1];
        if (make_room(pile, err))
            return -1;
        if (!day_sums_add_product(pile->sums, (uint32_t)day, id, units, stop - start, negative))
            return beyond_range(id, err);
    }
    return 0;
}

int days_add_rollup(struct days *days, uint64_t id, const struct rollup *rollup, uint128 price,
                    uint64_t until, struct error *err)
{
    uint64_t start = rollup->start, end = rollup->end < until ? rollup->end : until;
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
        return beyond_range(id, err);
    for (size_t day = 0; start < end; start = days->starts[day + 1], before = after) {
        day = find_day(days, start);
        uint64_t stop = end < days->starts[day + 1] ? end : days->starts[day + 1];
        struct wide share;
        if (make_room(days->sealed, err))
            return -1;
        if (!day_share(units, rollup->start, rollup->end, stop, &after))
            return beyond_range(id, err);
        share = after;
        if (!wide_subtract(&share, &before) ||
            !day_sums_add(days->sealed->sums, (uint32_t)day, id, &share))
            return beyond_range(id, err);
    }
    return 0;
}
