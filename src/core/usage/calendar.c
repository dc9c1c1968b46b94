/* SPDX-License-Identifier: MIT */
#include "core/usage/calendar.h"

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
 * Finds the first second of a local day by bisection.  mktime() of midnight is not used.  Midnight
 * can occur twice when clocks are set back, and can be missing when clocks are set forward.
 */
static time_t start_of_day(struct tm day)
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

    time_t time = (time_t)now;
    struct tm day;
    localtime_r(&time, &day);
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

static uint64_t start_after(uint64_t instant, int days, int months)
{
    time_t time = (time_t)instant;
    struct tm day;
    localtime_r(&time, &day);
    day.tm_mday = months ? 1 : day.tm_mday + days;
    day.tm_mon += months;
    return (uint64_t)start_of_day(day);
}

uint64_t calendar_next_reset(const struct reset_period *period, uint64_t now)
{
    time_t time = (time_t)now;
    struct tm day;
    localtime_r(&time, &day);
    switch (period->unit) {
    case RESET_DAILY:
        return start_after(now, 1, 0);
    case RESET_WEEKLY:
        return start_after(now, 7 - day.tm_wday, 0);
    case RESET_MONTHLY:
        return start_after(now, 0, 1);
    case RESET_QUARTERLY:
        return start_after(now, 0, 3 - day.tm_mon % 3);
    case RESET_YEARLY:
        return start_after(now, 0, 12 - day.tm_mon);
    case RESET_EVERY:
        return last_of_span(period, now + period->span);
    default:
        return 0;
    }
}

uint64_t calendar_next_day(uint64_t time)
{
    return start_after(time, 1, 0);
}

uint64_t calendar_next_week(uint64_t instant)
{
    time_t time = (time_t)instant;
    struct tm day;
    localtime_r(&time, &day);
    return start_after(instant, 7 - (day.tm_wday + 6) % 7, 0);
}

uint64_t calendar_next_month(uint64_t time)
{
    return start_after(time, 0, 1);
}

uint64_t calendar_day(uint64_t instant)
{
    time_t time = (time_t)instant;
    struct tm day;
    localtime_r(&time, &day);
    time_t start = start_of_day(day);
    return start > 0 ? (uint64_t)start : 0;
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
