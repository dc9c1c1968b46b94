/* SPDX-License-Identifier: MIT */
#include "util/calendar.h"

#include <time.h>

#include "util/index.h"

/*
 * Returns a different number for each local date.  The numbers ascend with the dates and have gaps.
 */
static long calendar_date_of(time_t time)
{
    struct tm date = { 0 };
    localtime_r(&time, &date);
    return (date.tm_year * 12L + date.tm_mon) * 31 + date.tm_mday;
}

/*
 * Finds the second by bisection.  mktime() of midnight is not used.  Midnight can occur twice when
 * clocks are set back, and can be missing when clocks are set forward.
 */
int64_t calendar_date_start(struct tm day)
{
    day.tm_hour = 12;
    day.tm_min = day.tm_sec = 0;
    day.tm_isdst = -1;
    time_t within = mktime(&day), before = within - 86400;
    long date = calendar_date_of(within);
    while (calendar_date_of(before) >= date)
        before -= 3600;
    while (within - before > 1) {
        time_t middle = before + (within - before) / 2;
        if (calendar_date_of(middle) < date)
            before = middle;
        else
            within = middle;
    }
    return within;
}

int64_t calendar_start(enum calendar_unit unit, int64_t instant, int count)
{
    static const int months_of[] = {
        [CALENDAR_MONTH] = 1, [CALENDAR_QUARTER] = 3, [CALENDAR_YEAR] = 12
    };
    time_t time = instant;
    struct tm day = { 0 };
    localtime_r(&time, &day);
    switch (unit) {
    case CALENDAR_DAY:
        day.tm_mday += count;
        break;
    case CALENDAR_WEEK:
        day.tm_mday += 7 * count - (day.tm_wday + 6) % 7;
        break;
    case CALENDAR_SUNDAY_WEEK:
        day.tm_mday += 7 * count - day.tm_wday;
        break;
    default:
        day.tm_mon += months_of[unit] * count - day.tm_mon % months_of[unit];
        day.tm_mday = 1;
    }
    int64_t start = calendar_date_start(day);
    return start > 0 ? start : 0;
}

uint64_t calendar_day(uint64_t time)
{
    return (uint64_t)calendar_start(CALENDAR_DAY, (int64_t)time, 0);
}

uint64_t calendar_next_day(uint64_t time)
{
    return (uint64_t)calendar_start(CALENDAR_DAY, (int64_t)time, 1);
}

int64_t calendar_end_of_day(int64_t time)
{
    return calendar_start(CALENDAR_DAY, time, 1);
}

int64_t calendar_end_of_week(int64_t time)
{
    return calendar_start(CALENDAR_WEEK, time, 1);
}

int64_t calendar_end_of_month(int64_t time)
{
    return calendar_start(CALENDAR_MONTH, time, 1);
}

static uint64_t last_of_span(const struct reset_period *period, uint64_t now)
{
    int64_t span = (int64_t)period->span, since = (int64_t)now - period->anchor;
    int64_t periods = since / span - (since % span < 0);
    int64_t boundary = period->anchor + periods * span;
    return boundary > 0 ? (uint64_t)boundary : 0;
}

/* Returns the last reset at or before `now`, or the reset that is `count` periods after it. */
static uint64_t calendar_reset(const struct reset_period *period, uint64_t now, int count)
{
    static const enum calendar_unit units[] = {
        [RESET_DAILY] = CALENDAR_DAY,     [RESET_WEEKLY] = CALENDAR_SUNDAY_WEEK,
        [RESET_MONTHLY] = CALENDAR_MONTH, [RESET_QUARTERLY] = CALENDAR_QUARTER,
        [RESET_YEARLY] = CALENDAR_YEAR,
    };
    if (period->unit == RESET_NEVER)
        return 0;
    if (period->unit == RESET_EVERY)
        return last_of_span(period, now + (uint64_t)count * period->span);
    return (uint64_t)calendar_start(units[period->unit], (int64_t)now, count);
}

uint64_t calendar_last_reset(const struct reset_period *period, uint64_t now)
{
    return calendar_reset(period, now, 0);
}

uint64_t calendar_next_reset(const struct reset_period *period, uint64_t now)
{
    return calendar_reset(period, now, 1);
}

/*
 * The days from 2000 to 2039.  One offset per day is enough, as clocks change at most once a day.
 */
#define FIRST_DAY 10957
#define DAYS_TO_2040 14610

uint64_t calendar_zone(void)
{
    uint64_t ahead[DAYS_TO_2040 / 2] = { 0 }; /* two days per word, 32 bits each */
    for (long day = 0; day < DAYS_TO_2040; day++) {
        time_t time = (FIRST_DAY + day) * 86400;
        struct tm date = { 0 };
        localtime_r(&time, &date);
        ahead[day / 2] |= (uint64_t)(uint32_t)date.tm_gmtoff << (day % 2 * 32);
    }
    return hash_words(ahead, DAYS_TO_2040 / 2);
}
