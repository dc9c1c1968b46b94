/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <time.h>

#include "core/insight/budget.h"
#include "util/calendar.h"

/*
 * Tests when limits are reached.  Times under decay were computed by integrating the differential
 * equation of decayed usage in steps of one second (Heun's method), not by the closed formula.
 */

#define NOW 1790000000 /* 2026-09-21 14:13:20 UTC, a Monday */
#define WEEK 604800

static const struct reset_period never = { .unit = RESET_NEVER };

/* Returns the seconds from NOW until the limit is reached, or -1. */
static int64_t left(double used_minutes, double limit_minutes, double rate, uint64_t half_life,
                    const struct reset_period *period)
{
    const struct budget_outlook outlook = {
        used_minutes * 60, limit_minutes * 60, rate, NOW, half_life, period
    };
    int64_t at = budget_exhausted_at(&outlook);
    return at < 0 ? at : at - NOW;
}

static void decay(void)
{
    is_int(left(41200, 60000, 6, 0, &never), 188000, "without decay, usage grows along a line");
    is_int(left(41200, 60000, 7, 0, &never), 161143, "a time is rounded up to a whole second");
    is_close((double)left(0, 60000, 10, WEEK, &never), 464217, 1e-5, "usage grows while it decays");
    is_close((double)left(41200, 60000, 6, WEEK, &never), 457746, 1e-5,
             "stored usage decays while new usage is added");
    is_close((double)left(5.2e6 / 60, 5.23e6 / 60, 6, WEEK, &never), 1661278, 1e-4,
             "a limit just below the equilibrium is reached late");
    is_int(left(41200, 60000, 4, WEEK, &never), -1,
           "a limit above the equilibrium of usage and decay is never reached");
    is_int(left(3.59e6 / 60, 60000, 4, WEEK, &never), -1,
           "usage that falls towards the equilibrium never reaches a limit above it");
}

static void extremes(void)
{
    is_int(left(60000, 60000, 0, WEEK, &never), 0, "usage equal to the limit has reached it");
    is_int(left(70000, 60000, NAN, 0, &never), 0, "usage above the limit has reached it");
    is_int(left(0, 0, 0, 0, &never), 0, "a limit of 0 is always reached");
    is_int(left(100, 60000, 0, 0, &never), -1, "without usage, no limit is reached");
    is_int(left(100, 60000, NAN, 0, &never), -1, "at an unknown rate, no limit is reached");
    is_int(left(0, 1e9, 1, 0, &never), -1, "a limit beyond a hundred years is never reached");
    is_int(left(0, 5e7, 1, 0, &never), 3000000000, "a limit within a hundred years is reached");
}

static void resets(void)
{
    const struct reset_period monthly = { .unit = RESET_MONTHLY };
    const struct reset_period thousand = { .unit = RESET_EVERY, .span = 1000, .anchor = NOW - 400 };
    const int64_t october = 1790812800 - NOW; /* 2026-10-01 */
    is_int(left(59000, 60000, 1, 0, &monthly), 60000,
           "a limit reached before a reset does not depend on the reset");
    is_int(left(0, 60000, 2, 0, &monthly), october + 1800000, "after a reset, usage grows from 0");
    is_int(left(59000, 60000, .05, 0, &monthly), -1,
           "a limit that one whole period does not reach is never reached");
    is_int(left(0, 10, 1, 0, &thousand), 600 + 600, "a period may be a duration");
    is_int(left(590 / 60., 1190 / 60., 1, 0, &thousand), -1,
           "a limit that is reached only at the time of a reset is not reached");
    is_close((double)left(0, 60000, 10, WEEK, &monthly), 464217, 1e-5,
             "usage decays between resets");
}

static void recent(void)
{
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    is_int((int64_t)budget_recent_from(1793196000), 1792533600,
           "the last seven days include a day with 25 hours");
    is_int((int64_t)budget_recent_from(1775048400), 1774393200,
           "the last seven days include a day with 23 hours");
    is_int((int64_t)budget_recent_from(1795874400), 1795215600,
           "the last seven days begin at midnight");
    is_int((int64_t)budget_recent_from(1000), 0, "no day begins before the epoch");
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
    decay();
    extremes();
    resets();
    recent();
    return done_testing();
}
