/* SPDX-License-Identifier: MIT */
#include "core/insight/budget.h"

#include <math.h>

#include "util/calendar.h"

#define SECONDS_OF_DAY 86400
#define RECENT_DAYS 7

/*
 * Returns the seconds until usage that is `used` now reaches the limit, rounded up; or INFINITY.
 *
 * With a half-life h and a rate r, the usage after t seconds is m + (used - m) 2^(-t/h).  It
 * approaches m = r h / ln 2, at which usage decays as fast as it is added.
 */
static double budget_seconds_left(const struct budget_outlook *outlook, double used)
{
    double limit = outlook->limit_s, half_life = (double)outlook->half_life_s;
    if (used >= limit)
        return 0;
    if (!(outlook->rate > 0))
        return INFINITY;
    if (!outlook->half_life_s)
        return ceil((limit - used) / outlook->rate);
    double most = outlook->rate * half_life / M_LN2;
    return most > limit ? ceil(half_life * log2((most - used) / (most - limit))) : INFINITY;
}

int64_t budget_exhausted_at(const struct budget_outlook *outlook)
{
    const double most = BUDGET_YEARS * 365.25 * SECONDS_OF_DAY;
    uint64_t reset = calendar_next_reset(outlook->period, outlook->now);
    double left = budget_seconds_left(outlook, outlook->used_s);
    if (left <= most && (left <= 0 || !reset || outlook->now + (uint64_t)left < reset))
        return (int64_t)(outlook->now + (uint64_t)left);
    left = reset ? budget_seconds_left(outlook, 0) : INFINITY;
    if (left <= most && reset + (uint64_t)left < calendar_next_reset(outlook->period, reset))
        return (int64_t)(reset + (uint64_t)left);
    return -1;
}

uint64_t budget_recent_from(uint64_t now)
{
    return (uint64_t)calendar_start(CALENDAR_DAY, (int64_t)now, -RECENT_DAYS);
}
