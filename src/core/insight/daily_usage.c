/* SPDX-License-Identifier: MIT */
#include "core/insight/daily_usage.h"

#include <stdlib.h>
#include <string.h>

#include "core/usage/calendar.h"
#include "core/usage/usage.h"
#include "util/memory.h"

/* How many days begin at or before an instant. */
static size_t begun(const struct daily_usage *days, uint64_t instant)
{
    size_t low = 0, high = days->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (days->days[middle].first <= instant)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The day that an instant is in; the calendar is slow, and asked once a day. */
static struct usage_day *day_of(struct daily_usage *days, uint64_t instant)
{
    size_t at = begun(days, instant);
    if (at && instant < days->days[at - 1].next)
        return &days->days[at - 1];
    days->days = memory_grown(days->days, days->count, sizeof *days->days);
    memmove(days->days + at + 1, days->days + at, (days->count - at) * sizeof *days->days);
    days->count++;
    days->days[at] =
        (struct usage_day){ .first = calendar_day(instant), .next = calendar_next_day(instant) };
    return &days->days[at];
}

bool daily_usage_add(struct daily_usage *days, const struct clock *plain, const struct clock *clock,
                     const struct charge_term *term, bool negative)
{
    for (uint64_t from = term->start; from < term->end;) {
        struct usage_day *day = day_of(days, from);
        uint64_t to = term->end < day->next ? term->end : day->next;
        if (!wide_add_product(&day->used, term->units, clock_weight(plain, from, to), negative) ||
            !wide_add_product(&day->left, term->units, clock_weight(clock, from, to), negative))
            return false;
        from = to;
    }
    return true;
}

static int by_left(const void *a, const void *b)
{
    const struct usage_day *one = a, *other = b;
    struct natural first = natural_of_wide(&one->left), second = natural_of_wide(&other->left);
    int order = natural_compare(&second, &first);
    return order ? order : (one->first < other->first) - (one->first > other->first);
}

void daily_usage_rank(struct daily_usage *days)
{
    if (days->count)
        qsort(days->days, days->count, sizeof *days->days, by_left);
}

void daily_usage_free(struct daily_usage *days)
{
    free(days->days);
}
