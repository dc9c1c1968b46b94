/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/usage/steps.h"

/* Computes the worth of a job with one TRES, cycle by cycle, as slurmctld does. */
static double by_hand(double half_life, uint64_t period, bool ends_free, uint64_t newest,
                      uint64_t now, uint64_t reset, uint64_t start, uint64_t end)
{
    double decay = half_life > 0 ? 1 - 0.693 / half_life : 1, usage = 0;
    uint64_t since = newest % period;
    for (uint64_t step = since + period; since < now; step += period) {
        uint64_t until = step < now ? step : now;
        bool is_step = step <= now;
        uint64_t from = start > since ? start : since;
        if (!ends_free && end && since < end && end <= until && end > from)
            usage += (double)(end - from) * pow(decay, (double)(end - from));
        if (is_step) {
            if (since < reset && reset <= step)
                usage = 0;
            usage *= pow(decay, (double)period);
            if (start <= step && (!end || end > step))
                usage += (double)(step - from) * pow(decay, (double)(step - from));
        }
        since = until;
    }
    return usage;
}

static unsigned random_below(unsigned limit)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return (state >> 8) % limit;
}

static void one_half_life(uint64_t half_life, uint64_t period, bool ends_free,
                          const char *statement)
{
    uint64_t now = 20000;
    struct steps *steps = steps_create(half_life, period, ends_free, 0, now);
    bool close = true; /* NAN makes it false */
    for (int i = 0; i < 4000; i++) {
        uint64_t newest = now - random_below((unsigned)period);
        uint64_t start = period + random_below(20100 - (unsigned)period);
        uint64_t end = i % 5 ? start + random_below(i % 2 ? 2 * (unsigned)period : 15000) : 0;
        uint64_t reset = i % 3 ? 0 : 1 + random_below((unsigned)(newest - 1));
        double worth = steps_worth(steps, newest, reset, start, end);
        double wanted = by_hand((double)half_life, period, ends_free, newest, now, reset, start,
                                end > now ? 0 : end);
        close &= fabs(worth - wanted) < 1e-11 * fmax(1, wanted);
    }
    ok(close, statement);
    steps_destroy(steps);
}

int main(void)
{
    one_half_life(600, 60, false, "the sum over decay cycles equals the result cycle by cycle");
    one_half_life(7 * 86400, 300, false,
                  "the sum is correct with Slurm's default half-life and period");
    one_half_life(0, 300, false, "the sum is correct without decay");
    one_half_life(600, 1, false, "the sum is correct with cycles of one second");
    one_half_life(600, 60, true, "the sum is correct if the last seconds are free");

    struct steps *steps = steps_create(600, 60, false, 0, 20000);
    ok(steps_worth(steps, 20000, 0, 20000, 0) <= 0, "a job that starts now has worth 0");
    ok(steps_worth(steps, 19990, 0, 19991, 0) <= 0,
       "a job that started after the newest cycle has worth 0");
    ok(fabs(steps_worth(steps, 19990, 0, 19991, 19996) - 5 * steps_decay(steps, 5)) < 1e-12,
       "a job that ended after the newest cycle counts at once");
    ok(steps_worth(steps, 19990, 19980, 100, 19985) <= 0,
       "the first cycle after a reset removes usage that ended before it");
    steps_destroy(steps);
    return done_testing();
}
