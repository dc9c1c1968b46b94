/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/usage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"

/* A start may be this much later than our clock before it is called odd. */
#define CLOCK_SKEW_S 300

#define NO_VALUE_64 UINT64_C(0xfffffffffffffffe) /* and above: "no value", "infinite" */

enum tres_reading tres_count(const char *list, size_t length, uint64_t id, uint64_t *count)
{
    const char *end = list + length;
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const char *stop = comma ? comma : end;
        uint64_t found = 0;
        const char *at = list;
        while (at < stop && *at >= '0' && *at <= '9' && found < 1000000)
            found = found * 10 + (uint64_t)(*at++ - '0');
        if (found == id && at > list && (at == stop || *at == '=')) {
            if (at == stop || !number_unsigned(at + 1, (size_t)(stop - at - 1), count) ||
                *count >= NO_VALUE_64)
                return TRES_UNREADABLE;
            return TRES_FOUND;
        }
        list = stop + 1;
    }
    return TRES_ABSENT;
}

/* digits x 10^power units, rounded half to even. */
static uint128 units_of_decimal(uint64_t digits, int power)
{
    uint128 units = (uint128)digits << 20;
    power += 6;
    for (; power > 0; power--) {
        if (units >= PRICE_TOO_LARGE)
            return PRICE_TOO_LARGE;
        units *= 10;
    }
    /* Below 10^-38 of what has 77 bits nothing is left. */
    if (power < -38)
        return 0;
    uint128 divisor = 1;
    for (; power < 0; power++)
        divisor *= 10;
    uint128 quotient = units / divisor, rest = units % divisor;
    if (rest > divisor - rest || (rest == divisor - rest && (quotient & 1)))
        quotient++;
    return quotient < PRICE_TOO_LARGE ? quotient : PRICE_TOO_LARGE;
}

uint128 price_of_factor(double factor)
{
    if (!(factor >= 0) || !isfinite(factor))
        factor = 1;
    char text[40];
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, factor);
        if (strtod(text, NULL) == factor)
            break;
    }
    /* d.ddde[+-]xx */
    uint64_t digits = 0;
    int power = 0;
    const char *at = text;
    for (bool behind_point = false; *at != 'e'; at++) {
        if (*at < '0' || *at > '9') {
            behind_point = true;
            continue;
        }
        digits = digits * 10 + (uint64_t)(*at - '0');
        power -= behind_point;
    }
    return units_of_decimal(digits, power + atoi(at + 1));
}

static enum tres_reading charged_count(const struct charging *charging, const struct job *job,
                                       uint64_t *count)
{
    *count = 1;
    if (!job->tres_alloc)
        return TRES_FOUND;
    *count = 0;
    enum tres_reading reading = TRES_ABSENT;
    if (charging->charge == CHARGE_BILLING)
        reading = tres_count(job->tres_alloc, job->tres_alloc_length, TRES_BILLING, count);
    if (reading == TRES_ABSENT)
        reading = tres_count(job->tres_alloc, job->tres_alloc_length, TRES_CPU, count);
    return reading;
}

/* Where an open job stops being charged, and whether that is before now. */
static bool open_job_end(const struct charging *charging, const struct job *job, uint64_t *end)
{
    *end = clock_now(charging->clock);
    if (job->time_limit == 0 || job->time_limit >= TIME_LIMIT_NONE)
        return false;
    uint64_t cap = job->time_start + job->time_limit * 60 + charging->open_job_cap;
    if (cap >= *end)
        return false;
    *end = cap;
    return true;
}

enum job_outcome job_charge(const struct charging *charging, const struct job *job, uint128 price,
                            struct charge_term *term)
{
    *term = (struct charge_term){ 0 };
    uint64_t now = clock_now(charging->clock), end = job->time_end;
    if (job->time_start == 0)
        return JOB_CHARGED;
    if (end && end < job->time_start)
        return JOB_ENDS_BEFORE_START;
    if (job->time_start > now) {
        bool odd = !charging->in_past && job->time_start - now > CLOCK_SKEW_S;
        return odd ? JOB_STARTS_IN_FUTURE : JOB_CHARGED;
    }
    bool capped = !end && open_job_end(charging, job, &end);

    /* A resized job's later row begins at the resize, which is its time_submit. */
    uint64_t start = job->time_start > job->time_submit ? job->time_start : job->time_submit;
    uint128 weight = clock_weight(charging->clock, start, end);
    if (!weight)
        return capped ? JOB_CAPPED : JOB_CHARGED;

    uint64_t count;
    if (charged_count(charging, job, &count) == TRES_UNREADABLE)
        return JOB_TRES_UNREADABLE;
    uint128 units;
    if (price >= PRICE_TOO_LARGE || __builtin_mul_overflow(price, (uint128)count, &units) ||
        units >= PRICE_TOO_LARGE)
        return count ? JOB_CHARGE_TOO_LARGE : JOB_CHARGED;
    if (units)
        *term = (struct charge_term){ units, weight, start };
    return capped ? JOB_CAPPED : JOB_CHARGED;
}
