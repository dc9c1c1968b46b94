/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_CALENDAR_H
#define FAIRMILL_UTIL_CALENDAR_H

#include <stdint.h>
#include <time.h>

/*
 * Times of usage resets (PriorityUsageResetPeriod in slurm.conf(5)) and local calendar days.  All
 * use the process's time zone.
 */

enum reset_unit {
    RESET_NEVER,
    RESET_DAILY,
    RESET_WEEKLY, /* Sunday 00:00 */
    RESET_MONTHLY,
    RESET_QUARTERLY,
    RESET_YEARLY,
    RESET_EVERY, /* a fixed duration, counted from an anchor */
};

struct reset_period {
    enum reset_unit unit;
    uint64_t span;  /* RESET_EVERY: seconds, not 0 */
    int64_t anchor; /* RESET_EVERY: a time at which a period begins */
};

/* Returns the time of the last reset at or before `now`, or 0 if there was no reset. */
uint64_t calendar_last_reset(const struct reset_period *period, uint64_t now);

/* Returns the time of the first reset after `now`, or 0 if there are no resets. */
uint64_t calendar_next_reset(const struct reset_period *period, uint64_t now);

/* Local periods.  Weeks begin on Monday, except those of RESET_WEEKLY. */
enum calendar_unit {
    CALENDAR_DAY,
    CALENDAR_WEEK,
    CALENDAR_SUNDAY_WEEK,
    CALENDAR_MONTH,
    CALENDAR_QUARTER,
    CALENDAR_YEAR,
};

/*
 * Returns the first second of a local period, or 0 if the period began before 1970.  The period is
 * `count` periods after the one that contains `time`; a negative count means before it.
 */
int64_t calendar_start(enum calendar_unit unit, int64_t time, int count);

/* Return the first second of the day of `time`, and of the day after it. */
uint64_t calendar_day(uint64_t time);
uint64_t calendar_next_day(uint64_t time);

/* Return the first second after the period that contains `time`. */
int64_t calendar_end_of_day(int64_t time);
int64_t calendar_end_of_week(int64_t time);
int64_t calendar_end_of_month(int64_t time);

/* Returns the first second of a date, which may be before 1970. */
int64_t calendar_date_start(struct tm date);

/*
 * Returns a hash that identifies the process's time zone.  The hash depends on the offsets from UTC
 * in the years 2000 to 2039, and not on the zone's name.
 */
uint64_t calendar_zone(void);

#endif
