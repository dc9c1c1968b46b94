/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_CALENDAR_H
#define FAIRMILL_CORE_USAGE_CALENDAR_H

#include <stdint.h>

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

/* Returns the first second of the local day of `time`, or 0 if that day began before 1970. */
uint64_t calendar_day(uint64_t time);

/* Return the first second of the next local day, week (from Monday on) or month after `time`. */
uint64_t calendar_next_day(uint64_t time);
uint64_t calendar_next_week(uint64_t time);
uint64_t calendar_next_month(uint64_t time);

/*
 * Returns a hash that identifies the process's time zone.  The hash depends on the offsets from UTC
 * in the years 2000 to 2039, and not on the zone's name.
 */
uint64_t calendar_zone(void);

#endif
