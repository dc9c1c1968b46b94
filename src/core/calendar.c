/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/calendar.h"

#include <time.h>

/* The first second of a local day.  Where the clock skips midnight, that is the first one after
 * the gap. */
static time_t start_of_day(struct tm day)
{
    struct tm noon = day, midnight = day;
    noon.tm_hour = 12;
    noon.tm_min = noon.tm_sec = midnight.tm_hour = midnight.tm_min = midnight.tm_sec = 0;
    noon.tm_isdst = midnight.tm_isdst = -1;
    mktime(&noon); /* brings a day like the -2nd into its month */
    time_t start = mktime(&midnight);
    struct tm found;
    while (localtime_r(&start, &found) && found.tm_mday != noon.tm_mday)
        start += 900;
    return start;
}

static uint64_t last_of_span(const struct reset_period *period, uint64_t now)
{
    int64_t span = (int64_t)period->span, since = (int64_t)now - period->anchor;
    int64_t periods = since / span - (since % span < 0);
    int64_t boundary = period->anchor + periods * span;
    return boundary > 0 ? (uint64_t)boundary : 0;
}

uint64_t calendar_last_reset(const struct reset_period *period, uint64_t now)
{
    if (period->unit == RESET_NEVER)
        return 0;
    if (period->unit == RESET_EVERY)
        return last_of_span(period, now);

    time_t instant = (time_t)now;
    struct tm day;
    localtime_r(&instant, &day);
    switch (period->unit) {
    case RESET_WEEKLY:
        day.tm_mday -= day.tm_wday;
        break;
    case RESET_YEARLY:
        day.tm_mon = 0;
        day.tm_mday = 1;
        break;
    case RESET_QUARTERLY:
        day.tm_mon -= day.tm_mon % 3;
        day.tm_mday = 1;
        break;
    case RESET_MONTHLY:
        day.tm_mday = 1;
        break;
    default:
        break;
    }
    time_t boundary = start_of_day(day);
    return boundary > 0 ? (uint64_t)boundary : 0;
}
