/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_CALENDAR_H
#define FAIRMILL_CORE_USAGE_CALENDAR_H

#include <stdint.h>

/* When usage was last reset (Slurm's PriorityUsageResetPeriod; facts of Slurm 1.3), in the time
 * zone of the process. */

enum reset_unit {
    RESET_NEVER,
    RESET_DAILY,
    RESET_WEEKLY, /* Sunday 00:00 */
    RESET_MONTHLY,
    RESET_QUARTERLY,
    RESET_YEARLY,
    RESET_EVERY, /* a fixed span, counted from an anchor */
};

struct reset_period {
    enum reset_unit unit;
    uint64_t span;  /* RESET_EVERY: seconds, not 0 */
    int64_t anchor; /* RESET_EVERY: an instant at which a period begins */
};

/* The last boundary at or before `now`; 0 where there is none. */
uint64_t calendar_last_reset(const struct reset_period *period, uint64_t now);

/* The first second of the local day that `instant` is in, at least 0. */
uint64_t calendar_day(uint64_t time);

/* The first second of the local day, week (from Monday on) or month after the one that `instant`
 * is in. */
uint64_t calendar_next_day(uint64_t time);
uint64_t calendar_next_week(uint64_t time);
uint64_t calendar_next_month(uint64_t time);

/* A number that differs between time zones.  It is made of what local time was ahead of UTC by from
 * 2000 to 2040, and not of the name of the zone. */
uint64_t calendar_zone(void);

#endif
