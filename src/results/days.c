/* SPDX-License-Identifier: MIT */
#include "results/days.h"

#include <stdlib.h>

#include "core/finding.h"
#include "core/usage/decay_table.h"
#include "core/usage/usage_owners.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

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

size_t days_search(const struct days *days, uint64_t time)
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
    size_t day = days_search(days, start);
    return day < days->count && days->starts[day] == start ? day : days->count;
}

/* Returns the day that contains `time`.  Consecutive jobs are mostly in the same day. */
static size_t find_day(struct days *days, uint64_t time)
{
    size_t day = days->last;
    if (time < days->starts[day] || time >= days->starts[day + 1])
        day = days->last = days_search(days, time);
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
