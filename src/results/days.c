/* SPDX-License-Identifier: MIT */
#include "results/days.h"

#include <stdlib.h>

#include "core/finding.h"
#include "core/usage/calendar.h"
#include "core/usage/rollup.h"
#include "core/usage/slice.h"
#include "results/day_spool.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

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
    days->sealed = day_spool_create();
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
    day_spool_destroy(days->sealed);
    day_spool_destroy(days->open);
    free(days->starts);
    free(days);
}

/* The last day that begins at `instant` or earlier; the first where none does. */
static size_t search(const struct days *days, uint64_t instant)
{
    size_t low = 0, high = days->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (instant < days->starts[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

void days_give_up(struct days *days, struct findings *findings, const struct error *err)
{
    log_note("the usage of days is not kept: %s", err->message);
    findings_add(findings, FINDING_DAYS_INCOMPLETE, 0, "%s", err->message);
    days->failed = true;
}

size_t days_find(const struct days *days, uint64_t start)
{
    size_t day = search(days, start);
    return day < days->count && days->starts[day] == start ? day : days->count;
}

/* The day that an instant is in, most likely the one that was found last. */
static size_t find_day(struct days *days, uint64_t instant)
{
    size_t day = days->last;
    if (instant < days->starts[day] || instant >= days->starts[day + 1])
        day = days->last = search(days, instant);
    if (day < days->earliest)
        days->earliest = day;
    return day;
}

/* So many whole days or fewer are added one by one; more are added as a rate. */
#define WHOLE_DAYS 3u

static uint64_t part_of(const struct days *days, size_t day, uint64_t start, uint64_t end)
{
    uint64_t from = days->starts[day] > start ? days->starts[day] : start;
    return (end < days->starts[day + 1] ? end : days->starts[day + 1]) - from;
}

int days_add(struct days *days, bool sealed, const struct usage_rate *rate, uint64_t start,
             uint64_t end, struct error *err)
{
    struct day_spool *spool = sealed ? days->sealed : days->open;
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
        if (day_spool_add_product(spool, (uint32_t)day, rate, part_of(days, day, start, end), err))
            return -1;
    return 0;
}

int days_add_rollup(struct days *days, const struct slice *slice, const struct rollup *rollup,
                    uint128 price, struct error *err)
{
    uint64_t id = slice->own;
    uint64_t start = rollup->start > slice->start ? rollup->start : slice->start;
    uint64_t end = rollup->end < slice->end ? rollup->end : slice->end;
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
        if (day_spool_add(days->sealed, (uint32_t)day, id, &share, err))
            return -1;
    }
    return 0;
}

int days_spill_rest(struct days *days, struct error *err)
{
    return day_spool_spill_rest(days->sealed, err) || day_spool_spill_rest(days->open, err) ? -1
                                                                                            : 0;
}

int days_take(struct days *days, struct day_spool *spool, size_t day, struct day_sums *into,
              struct error *err)
{
    uint64_t seconds = days->starts[day + 1] - days->starts[day];
    return day_spool_take(spool, (uint32_t)day, seconds, into, err);
}
