/* SPDX-License-Identifier: MIT */
#include "core/usage/usage.h"

#include <math.h>

#define ID_LIMIT UINT64_C(1000000000) /* ids have 32 bits */

/*
 * Parses the id of an item `id=count` that ends at `stop`, and sets `*count` to the start of its
 * count.  Returns 0 if there is no id.  Inline because each job row calls it about five times.
 */
static inline uint64_t item_id(const char *item, const char *stop, const char **count)
{
    uint64_t id = 0;
    while (item < stop && *item >= '0' && *item <= '9' && id < ID_LIMIT)
        id = id * 10 + (uint64_t)(*item++ - '0');
    *count = item + 1;
    return item == stop || *item == '=' ? id : 0;
}

static bool read_count(const char *text, const char *stop, uint64_t *count)
{
    return text <= stop && number_unsigned(text, (size_t)(stop - text), count) &&
           *count < TRES_NO_VALUE;
}

/* Returns the end of an item.  Most items are too short for memchr() to be faster. */
static inline const char *item_end(const char *item, const char *end)
{
    while (item < end && *item != ',')
        item++;
    return item;
}

enum tres_reading tres_count(const char *list, size_t length, uint64_t id, uint64_t *count)
{
    const char *end = list + length, *stop, *text;
    for (; list < end; list = stop + 1) {
        stop = item_end(list, end);
        if (item_id(list, stop, &text) == id)
            return read_count(text, stop, count) ? TRES_FOUND : TRES_UNREADABLE;
    }
    return TRES_ABSENT;
}

/*
 * Reads the billing, or the CPUs with `charge = cpu`.  slurmdbd does not store a count of 0, so a
 * job without billing is charged 0.
 */
static enum tres_reading billing_or_cpus(enum charge_basis charge, const char *list, size_t length,
                                         uint64_t *count)
{
    *count = 0;
    return tres_count(list, length, charge == CHARGE_CPU ? TRES_CPU : TRES_BILLING, count);
}

/* Returns count * rate, or RATE_TOO_LARGE if the product is RATE_TOO_LARGE or more. */
static uint128 usage_charge_of(uint64_t count, uint128 rate)
{
    uint128 units;
    if (!count)
        return 0;
    if (rate >= RATE_TOO_LARGE || __builtin_mul_overflow(rate, (uint128)count, &units) ||
        units >= RATE_TOO_LARGE)
        return RATE_TOO_LARGE;
    return units;
}

/*
 * The position in an iteration over the TRES of a list that have a charge rate.  If a TRES is
 * listed twice, its first count is used, as in tres_count().
 */
struct tres_walk {
    const char *at, *end;
    uint64_t seen;
    uint64_t count; /* of the current TRES */
    bool unreadable;
};

static const struct tres_rate *next_priced(struct tres_walk *walk, const struct charge_rate *rate)
{
    const char *stop, *text;
    for (; walk->at < walk->end; walk->at = stop + 1) {
        stop = item_end(walk->at, walk->end);
        uint64_t id = item_id(walk->at, stop, &text);
        size_t i = 0;
        while (i < rate->tres_count && rate->tres[i].id != id)
            i++;
        if (i == rate->tres_count || walk->seen >> i & 1)
            continue;
        walk->seen |= UINT64_C(1) << i;
        walk->unreadable = !read_count(text, stop, &walk->count);
        walk->at = stop + 1;
        return walk->unreadable ? NULL : &rate->tres[i];
    }
    return NULL;
}

static enum tres_reading weighted_charge(const struct charge_rate *rate, const char *list,
                                         size_t length, uint128 *units)
{
    struct tres_walk walk = { .at = list, .end = list + length };
    const struct tres_rate *tres;
    uint128 highest = 0;
    *units = 0;
    while ((tres = next_priced(&walk, rate))) {
        uint128 part = usage_charge_of(walk.count, tres->rate);
        if (!tres->in_maximum)
            *units += part;
        else if (part > highest)
            highest = part;
    }
    *units += highest;
    return walk.unreadable ? TRES_UNREADABLE : TRES_FOUND;
}

/*
 * Returns a bound of a + count * weight as a processor may compute it in doubles.  The processor
 * may or may not round the product before the addition.  `side` is 0 for a lower and INFINITY for
 * an upper bound.
 */
static double sum_towards(double a, double count, double weight, double side)
{
    double part = count * weight, sum = a + part;
    if (a == 0 || part == 0) /* one operand is 0, so the addition is exact */
        return sum;
    double fused = fma(count, weight, a);
    double least = side > 0 ? fmax(sum, fused) : fmin(sum, fused);
    return sum - a == part && sum - part == a ? least : nextafter(least, side);
}

/*
 * Returns true if slurmctld can have computed this billing with these weights.  slurmctld computes
 * in doubles, so a sum close to an integer may be slightly lower or higher.  This depends on the
 * processor and on the order of the TRES.
 */
static bool makes_billing(const struct charge_rate *rate, const char *list, size_t length,
                          uint64_t billing)
{
    struct tres_walk walk = { .at = list, .end = list + length };
    const struct tres_rate *tres;
    double low = 0, high = 0, highest = 0;
    while ((tres = next_priced(&walk, rate))) {
        double count = (double)walk.count;
        if (tres->in_maximum) {
            highest = fmax(highest, count * tres->weight);
        } else {
            low = sum_towards(low, count, tres->weight, 0);
            high = sum_towards(high, count, tres->weight, INFINITY);
        }
    }
    low = sum_towards(low, highest, 1, 0);
    high = sum_towards(high, highest, 1, INFINITY);
    return !walk.unreadable && floor(low) <= (double)billing && (double)billing <= floor(high);
}

/*
 * Returns true if the weights explain the stored billing.  A missing billing is a sum that was
 * rounded down to 0.  The result depends only on the list and the weights, because factors change
 * the charge rate, not the billing.
 */
static bool is_verified(const struct charge_rate *rate, const char *list, size_t length)
{
    uint64_t billing = 0;
    return tres_count(list, length, TRES_BILLING, &billing) != TRES_UNREADABLE &&
           makes_billing(rate, list, length, billing);
}

uint128 tres_charge(enum charge_basis charge, const struct charge_rate *rate, const char *list,
                    size_t length, enum job_outcome *outcome)
{
    uint128 units = 0;
    uint64_t count;
    enum tres_reading reading;
    bool to_verify = charge == CHARGE_AUTO && rate->weighs;
    if (charge == CHARGE_TRES || (to_verify && is_verified(rate, list, length))) {
        reading = weighted_charge(rate, list, length, &units);
        to_verify = false;
    } else {
        reading = billing_or_cpus(charge, list, length, &count);
        units = reading == TRES_UNREADABLE ? 0 : usage_charge_of(count, rate->rate);
    }
    *outcome = reading == TRES_UNREADABLE           ? JOB_TRES_UNREADABLE
               : units >= RATE_TOO_LARGE            ? JOB_CHARGE_TOO_LARGE
               : to_verify && reading == TRES_FOUND ? JOB_OTHER_WEIGHTS
                                                    : JOB_CHARGED;
    return job_is_charged(*outcome) ? units : 0;
}

uint64_t job_begin(const struct job *job)
{
    return job->time_start > job->time_submit ? job->time_start : job->time_submit;
}

/*
 * Returns the time after which a job is far beyond its time limit, or UINT64_MAX without a limit.
 */
static uint64_t cap_of(const struct charging *charging, const struct job *job)
{
    if (job->time_limit == 0 || job->time_limit >= TIME_LIMIT_NONE)
        return UINT64_MAX;
    return job->time_start + job->time_limit * 60 + charging->open_job_cap;
}

struct job_span job_span(const struct charging *charging, const struct job *job)
{
    uint64_t now = decay_table_now(charging->decay);
    bool ends_later = job->time_end > now + CLOCK_SKEW_S;
    struct job_span span = { .ended = ends_later ? 0 : job->time_end, .outcome = JOB_CHARGED };
    if (job->time_start == 0)
        return span;
    if (job->time_end && job->time_end < job->time_start) {
        span.outcome = JOB_ENDS_BEFORE_START;
        return span;
    }
    if (job->time_start > now) {
        if (!charging->in_past && job->time_start - now > CLOCK_SKEW_S)
            span.outcome = JOB_STARTS_IN_FUTURE;
        return span;
    }
    uint64_t cap = cap_of(charging, job), end = span.ended ? span.ended : cap;
    span.start = job_begin(job);
    span.end = end < now ? end : now;
    if (span.ended)
        span.outcome = span.ended > cap ? JOB_ENDS_BEYOND_LIMIT : JOB_CHARGED;
    else if (!ends_later || !charging->in_past)
        span.outcome = cap < now    ? JOB_CAPPED
                       : ends_later ? JOB_ENDS_IN_FUTURE
                       : job->open_for_long && span.start + job->open_for_long < now
                           ? JOB_OPEN_FOR_LONG
                           : JOB_CHARGED;
    return span;
}

uint64_t passes_newest(const struct passes *passes, uint64_t now, uint64_t period, uint64_t before)
{
    size_t count = passes->count;
    while (count && passes->registered[count - 1] >= before)
        count--;
    uint64_t registered = count ? passes->registered[count - 1] : 0;
    bool is_nearer = count && before < now && before - registered <= now - before;
    return is_nearer ? now - (now - registered) % period : now;
}

uint64_t last_pass(uint64_t newest, uint64_t period, uint64_t before)
{
    uint64_t passes = before <= newest ? (newest - before) / period + 1 : 0;
    return passes * period < newest ? newest - passes * period : 0;
}

void job_span_suspended(struct job_span *span, uint64_t noted, uint64_t newest, uint64_t period)
{
    span->start = span->ended ? span->ended : UINT64_MAX;
    span->end = last_pass(newest, period, noted);
    span->outcome = JOB_CHARGED;
}

enum job_outcome job_charge(const struct charging *charging, const struct job *job,
                            const struct job_span *span, const struct charge_rate *rate,
                            struct charge_term *term)
{
    uint64_t start = span->start < charging->from ? charging->from : span->start, end = span->end;
    *term = (struct charge_term){ 0 };
    if (start >= end)
        return span->outcome;
    uint64_t narrow;
    uint128 weight = decay_table_weights(charging->decay, start, end, &narrow);
    if (!weight && end <= charging->days_from)
        return span->outcome;

    enum job_outcome outcome = JOB_CHARGED;
    uint128 units = job->tres_alloc ? tres_charge(charging->charge, rate, job->tres_alloc,
                                                  job->tres_alloc_length, &outcome)
                                    : rate->rate;
    if (units >= RATE_TOO_LARGE)
        outcome = JOB_CHARGE_TOO_LARGE;
    bool charged = job_is_charged(outcome);
    *term = (struct charge_term){ charged ? units : 0, weight, narrow, start, end };
    /* Do not report the TRES of a row without weight.  A finding about its times takes precedence
     * over a finding about its weights. */
    bool told = weight && (!charged || span->outcome == JOB_CHARGED);
    return told ? outcome : span->outcome;
}

uint128 suspensions_weight(struct suspensions *suspensions, const struct decay_table *decay,
                           uint64_t key, const struct charge_term *term, uint64_t start,
                           uint64_t end)
{
    if (key != suspensions->key)
        *suspensions = (struct suspensions){ .key = key };
    suspensions->counted_from = suspensions->counted_to;
    if (!start)
        return 0;
    if (start < term->start)
        start = term->start;
    if (start < suspensions->counted_to)
        start = suspensions->counted_to;
    if (!end || end > term->end)
        end = term->end;
    if (start >= end)
        return 0;
    suspensions->counted_from = start;
    suspensions->counted_to = end;
    return decay_table_weight(decay, start, end);
}
