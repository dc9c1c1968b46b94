/* SPDX-License-Identifier: MIT */
#include "core/usage/steps.h"

#include <math.h>
#include <stdlib.h>

#include "util/memory.h"

/* The plugin's value of ln 2. */
#define SLURM_LN_2 0.693

struct steps {
    double decay; /* D */
    uint64_t period, oldest, now;
    bool ends_free;
    double *seconds; /* D^i, i below the period */
    double *periods; /* D^(period * i) */
    double of_period;
};

struct steps *steps_create(uint64_t half_life, uint64_t period, bool ends_free, uint64_t oldest,
                           uint64_t now)
{
    struct steps *steps = memory_zeroed(1, sizeof *steps);
    uint64_t count = (now > oldest ? now - oldest : 0) / period + 3;
    double decay = half_life ? 1 - SLURM_LN_2 / (double)half_life : 1;
    *steps = (struct steps){
        .decay = decay,
        .period = period,
        .oldest = oldest,
        .now = now,
        .ends_free = ends_free,
        .seconds = memory_zeroed(period, sizeof *steps->seconds),
        .periods = memory_zeroed(count, sizeof *steps->periods),
        .of_period = pow(decay, (double)period),
    };
    for (uint64_t i = 0; i < period; i++)
        steps->seconds[i] = pow(decay, (double)i);
    for (uint64_t i = 0; i < count; i++)
        steps->periods[i] = pow(decay, (double)(i * period));
    return steps;
}

void steps_destroy(struct steps *steps)
{
    if (!steps)
        return;
    free(steps->seconds);
    free(steps->periods);
    free(steps);
}

double steps_decay(const struct steps *steps, uint64_t age)
{
    return steps->periods[age / steps->period] * steps->seconds[age % steps->period];
}

/* Returns the charge for `seconds` that are charged at once. */
static double decay_steps_charge_of(const struct steps *steps, uint64_t seconds)
{
    return (double)seconds * steps_decay(steps, seconds);
}

/* Returns the last cycle before `time`.  `time` must not be after the newest cycle. */
static uint64_t step_before(const struct steps *steps, uint64_t newest, uint64_t time)
{
    return newest - ((newest - time) / steps->period + 1) * steps->period;
}

static uint64_t decay_steps_later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * Returns the worth of the cycles in which the job ran.  These are the cycles at or after its start
 * and before `end`, up to the newest cycle.
 */
static double worth_of_steps(const struct steps *steps, uint64_t newest, uint64_t start,
                             uint64_t end)
{
    uint64_t period = steps->period;
    uint64_t first = start + (newest - start) % period;
    uint64_t last = end > newest ? newest : step_before(steps, newest, end);
    if (last < first)
        return 0;
    uint64_t whole = (last - first) / period;
    double worth = (double)(first - start) * steps_decay(steps, newest - start);
    if (!whole)
        return worth;
    double sum =
        steps->decay < 1 ? (1 - steps->periods[whole]) / (1 - steps->of_period) : (double)whole;
    return worth + (double)period * steps->of_period * steps_decay(steps, newest - last) * sum;
}

double steps_worth(const struct steps *steps, uint64_t newest, uint64_t reset, uint64_t start,
                   uint64_t end)
{
    uint64_t stop = end && end <= steps->now ? end : UINT64_MAX;
    uint64_t earliest = steps->oldest;
    if (reset) {
        uint64_t zero = reset < newest ? reset + (newest - reset) % steps->period : newest;
        if (stop <= zero)
            return 0;
        earliest = decay_steps_later_of(earliest, zero > steps->period ? zero - steps->period : 0);
    }
    start = decay_steps_later_of(start, earliest);
    if (start >= stop || start > steps->now)
        return 0;
    double worth = start <= newest ? worth_of_steps(steps, newest, start, stop) : 0;
    if (stop == UINT64_MAX || steps->ends_free)
        return worth;
    if (stop > newest)
        return worth + decay_steps_charge_of(steps, stop - decay_steps_later_of(newest, start));
    uint64_t before = step_before(steps, newest, stop);
    return worth + decay_steps_charge_of(steps, stop - decay_steps_later_of(before, start)) *
                       steps_decay(steps, newest - before);
}
