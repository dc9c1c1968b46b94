/* SPDX-License-Identifier: MIT */
#include "core/usage/decay_table.h"

#include <math.h>
#include <stdlib.h>

#include "core/number/floating.h"
#include "util/memory.h"

#define UINT128(high, low) ((uint128)(high) << 64 | (low))

/* LN_2 is ln 2 * 2^128.  ONE_BY_LN_2 is (1 / ln 2) * 2^127. */
static const uint128 LN_2 = UINT128(0xb17217f7d1cf79ab, 0xc9e3b39803f2f6af);
static const uint128 ONE_BY_LN_2 = UINT128(0xb8aa3b295c17f0bb, 0xbe87fed0691d3e88);

/*
 * A divisor and its reciprocal, floor((2^64 - 1) / number).  Each job row needs four divisions.
 * With the processor's instruction, they would take as long as all other work in this file.
 */
struct divisor {
    uint64_t number, reciprocal;
};

struct decay_table {
    uint64_t half_life, now, start;
    uint64_t first_half_life; /* the decay epoch e */
    /* Factors from a sum to TRES-seconds and back.  If `rational`, the exact divisor is
     * 2^denominator_bits * 10^6. */
    struct floating usage_of_unit, units_of_usage;
    bool rational;
    unsigned denominator_bits;
    /* R(f) = coarse[f div step] * fine[f mod step]; coarse includes the constant factor. */
    uint64_t step;
    bool shares_tables; /* another table owns coarse and fine */
    uint128 *coarse, *fine;
    struct divisor by_half_life, by_step;
    /* For decay in steps.  The number of a time's period is (time + shift) div period.  `oldest` is
     * the first period in the arrays.  `weights` contains the weight of each period, and `begins`
     * contains Q at the start of each period. */
    uint64_t shift, oldest, newest;
    struct divisor by_period;
    double factor;
    uint128 *weights, *begins;
};

static struct divisor decay_table_divisor_of(uint64_t number)
{
    return (struct divisor){ number, UINT64_MAX / number };
}

/*
 * Returns the quotient and sets `*rest` to the remainder.  The estimated quotient is exact or one
 * too low.
 */
static inline uint64_t divide(struct divisor by, uint64_t dividend, uint64_t *rest)
{
    uint64_t quotient = (uint64_t)((uint128)dividend * by.reciprocal >> 64);
    *rest = dividend - quotient * by.number;
    if (*rest >= by.number) {
        *rest -= by.number;
        quotient++;
    }
    return quotient;
}

/*
 * Returns 2^(part / whole) for 0 <= part < whole, as a 128-bit mantissa times 2^-127.  Uses the
 * series of exp; each of about thirty terms is rounded down by less than 2^-127.
 */
static uint128 power_of_two(uint64_t part, uint64_t whole)
{
    /* exponent = 2^128 * ln 2 * part / whole, by long division */
    uint128 low = (uint128)(uint64_t)LN_2 * part;
    uint128 high = (uint128)(uint64_t)(LN_2 >> 64) * part + (low >> 64);
    uint128 rest = (high >> 64) % whole;
    uint64_t quotient[2];
    rest = rest << 64 | (uint64_t)high;
    quotient[1] = (uint64_t)(rest / whole);
    rest = (rest % whole) << 64 | (uint64_t)low;
    quotient[0] = (uint64_t)(rest / whole);
    uint128 exponent = UINT128(quotient[1], quotient[0]);

    uint128 sum = (uint128)1 << 127, term = exponent >> 1;
    for (unsigned i = 2; term; i++) {
        sum += term;
        term = wide_high_product(term, exponent) / i;
    }
    return sum;
}

/* Sets `*s` and returns 2^(s + 66) * H / ln 2, which is in [2^127, 2^128). */
static uint128 scaled_half_life(uint64_t half_life, int *s)
{
    uint128 low = (uint128)(uint64_t)ONE_BY_LN_2 * half_life;
    uint128 high = (uint128)(uint64_t)(ONE_BY_LN_2 >> 64) * half_life + (low >> 64);
    /* Normalize the three words: move the highest bit to the top.  The top word is below the
     * half-life. */
    uint64_t word[3] = { (uint64_t)(high >> 64), (uint64_t)high, (uint64_t)low };
    uint128 mantissa;
    int log2;
    if (word[0]) {
        int shift = __builtin_clzll(word[0]);
        mantissa = UINT128(word[0], word[1]) << shift;
        if (shift)
            mantissa |= word[2] >> (64 - shift);
        log2 = 64 - shift;
    } else {
        mantissa = UINT128(word[1], word[2]);
        log2 = 0;
    }
    *s = 61 - log2;
    return mantissa;
}

static void make_tables(struct decay_table *decay, uint128 scale)
{
    uint64_t half_life = decay->half_life;
    decay->step = (uint64_t)sqrt((double)half_life) + 1;
    decay->by_half_life = decay_table_divisor_of(half_life);
    decay->by_step = decay_table_divisor_of(decay->step);
    uint64_t count = half_life / decay->step + 1;
    decay->coarse = memory_zeroed(count, sizeof *decay->coarse);
    decay->fine = memory_zeroed(decay->step, sizeof *decay->fine);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t phase = i * decay->step;
        decay->coarse[i] = wide_high_product(scale, power_of_two(phase % half_life, half_life));
    }
    for (uint64_t i = 0; i < decay->step; i++)
        decay->fine[i] = power_of_two(i % half_life, half_life);
}

/* Returns 10^-6 with 128 bits: (2^141 / 15625) * 2^-147. */
static struct floating one_millionth(void)
{
    uint128 top = (uint128)1 << 127;
    uint128 mantissa = ((top / 15625) << 14) + ((top % 15625) << 14) / 15625;
    return (struct floating){ mantissa, -147 };
}

/*
 * Sets `usage_of_unit` and `units_of_usage`, the factors between sums and TRES-seconds.  One unit
 * for a second at `now` has the weight 2^age_bits * 2^(phase / half-life).
 */
static void set_units(struct decay_table *decay, int age_bits, uint64_t phase)
{
    uint64_t half_life = decay->half_life;
    decay->rational = phase == 0;
    decay->denominator_bits = (unsigned)(20 + age_bits);

    /* 2^-(phase/H) is half of 2^((H-phase)/H). */
    struct floating aged = { (uint128)1 << 127, -127 }, fresh = aged;
    if (phase) {
        aged = (struct floating){ power_of_two(half_life - phase, half_life), -128 };
        fresh = (struct floating){ power_of_two(phase, half_life), -127 };
    }
    decay->usage_of_unit = floating_product(one_millionth(), aged);
    decay->usage_of_unit.exponent -= 20 + age_bits;
    decay->units_of_usage =
        floating_product((struct floating){ (uint128)1000000 << 108, -108 }, fresh);
    decay->units_of_usage.exponent += 20 + age_bits;
}

uint64_t decay_table_epoch_at(uint64_t half_life, uint64_t now)
{
    uint64_t block = half_life ? now / half_life / 8 * 8 : 0;
    return block > 56 ? block - 56 : 0;
}

/* Creates a table that shares the arrays of `other`, or has its own arrays if `other` is NULL. */
static struct decay_table *decay_table_make(const struct decay_table *other, uint64_t half_life,
                                            uint64_t now, uint64_t start)
{
    struct decay_table *decay = memory_zeroed(1, sizeof *decay);
    if (other)
        *decay = *other;
    decay->half_life = half_life;
    decay->now = now;
    decay->start = start;
    decay->shares_tables = other != NULL;

    int age_bits = 0;
    uint64_t phase = 0;
    if (half_life) {
        int s;
        uint128 scale = scaled_half_life(half_life, &s);
        if (!other)
            make_tables(decay, scale);
        decay->first_half_life = decay_table_epoch_at(half_life, now);
        if (start < decay->first_half_life * half_life)
            decay->start = decay->first_half_life * half_life;
        age_bits = s + (int)(now / half_life - decay->first_half_life);
        phase = now % half_life;
    }
    set_units(decay, age_bits, phase);
    return decay;
}

struct decay_table *decay_table_create(uint64_t half_life, uint64_t now, uint64_t start)
{
    return decay_table_make(NULL, half_life, now, start);
}

struct decay_table *decay_table_create_like(const struct decay_table *other, uint64_t now,
                                            uint64_t start)
{
    return decay_table_make(other, other->half_life, now, start);
}

/* Decay in steps. */

#define STEP_BITS 88

/* Returns the number of seconds to add to the time of a step to get a multiple of the period. */
static uint64_t shift_of(const struct decay_cycles *steps)
{
    return steps->period - steps->epoch % steps->period;
}

/*
 * Returns the number of the period of `now`.  If `now` is the time of a step, this is the period
 * that ends at `now`.
 */
static uint64_t newest_period(const struct decay_cycles *steps, uint64_t now)
{
    return (now + shift_of(steps) - 1) / steps->period;
}

uint64_t decay_cycles_count(const struct decay_cycles *steps, uint64_t now, uint64_t start)
{
    uint64_t newest = newest_period(steps, now);
    uint64_t first = (start + shift_of(steps)) / steps->period;
    uint64_t count = newest > first ? newest - first + 1 : 1;
    double felt = ceil(64 / -log2(steps->factor));
    return (double)count > felt ? (uint64_t)felt : count;
}

/*
 * Computes the weight of each period; the newest period has the weight 2^STEP_BITS.  One more
 * element is used for `now` if a period ends at `now`.
 */
static void make_weights(struct decay_table *decay, const struct decay_cycles *steps)
{
    uint64_t count = decay->newest - decay->oldest + 1;
    struct floating factor = floating_of_double(steps->factor);
    struct floating weight = { (uint128)1 << 127, STEP_BITS - 127 };
    decay->weights = memory_zeroed(count + 1, sizeof *decay->weights);
    decay->begins = memory_zeroed(count + 1, sizeof *decay->begins);
    for (uint64_t i = count; i-- > 0; weight = floating_product(weight, factor)) {
        struct natural whole = natural_of_floating(weight);
        decay->weights[i] = natural_low(&whole);
    }
    for (uint64_t i = 0; i < count; i++)
        decay->begins[i + 1] = decay->begins[i] + decay->weights[i] * steps->period;
}

struct decay_table *decay_table_create_stepped(const struct decay_cycles *steps, uint64_t now,
                                               uint64_t start)
{
    struct decay_table *decay = memory_zeroed(1, sizeof *decay);
    *decay = (struct decay_table){ .half_life = steps->half_life, .now = now, .start = start };
    decay->shift = shift_of(steps);
    decay->by_period = decay_table_divisor_of(steps->period);
    decay->factor = steps->factor;
    decay->newest = newest_period(steps, now);
    decay->oldest = decay->newest + 1 - decay_cycles_count(steps, now, start);
    uint64_t begin = decay->oldest * steps->period;
    if (begin > decay->shift && start < begin - decay->shift)
        decay->start = begin - decay->shift;
    make_weights(decay, steps);
    set_units(decay, STEP_BITS, 0);
    return decay;
}

void decay_table_destroy(struct decay_table *decay)
{
    if (!decay)
        return;
    if (!decay->shares_tables) {
        free(decay->coarse);
        free(decay->fine);
    }
    free(decay->weights);
    free(decay->begins);
    free(decay);
}

uint64_t decay_table_now(const struct decay_table *decay)
{
    return decay->now;
}

uint64_t decay_table_half_life(const struct decay_table *decay)
{
    return decay->half_life;
}

bool decay_table_is_stepped(const struct decay_table *decay)
{
    return decay->weights != NULL;
}

double decay_table_left(const struct decay_table *decay, uint64_t time)
{
    uint64_t phase, period;
    if (!decay->half_life || time >= decay->now)
        return 1;
    if (!decay->weights)
        return exp2(-(double)(decay->now - time) / (double)decay->half_life);
    period = divide(decay->by_period, time + decay->shift, &phase);
    return pow(decay->factor, (double)(decay->newest - period));
}

uint64_t decay_table_start(const struct decay_table *decay)
{
    return decay->start;
}

uint64_t decay_table_epoch(const struct decay_table *decay)
{
    return decay->first_half_life;
}

/* Returns Q(t) for a time from decay_table_start() to now. */
static uint128 decay_epoch_of(const struct decay_table *decay, uint64_t t)
{
    if (!decay->half_life)
        return t;
    uint64_t phase, fine;
    if (decay->weights) {
        uint64_t i = divide(decay->by_period, t + decay->shift, &phase) - decay->oldest;
        return decay->begins[i] + decay->weights[i] * phase;
    }
    uint64_t half_life = divide(decay->by_half_life, t, &phase);
    uint64_t coarse = divide(decay->by_step, phase, &fine);
    uint128 fraction = wide_high_product(decay->coarse[coarse], decay->fine[fine]);
    uint64_t r = (uint64_t)((fraction + ((uint128)1 << 63)) >> 64);
    return (uint128)r << (half_life - decay->first_half_life);
}

/*
 * The number of bits that narrow weights lack.  A second just before now still has a weight of
 * 2^16 with a half-life of a week, and of 2^18 with decay in steps.
 */
static unsigned narrow_bits(const struct decay_table *decay)
{
    return !decay->half_life ? 0 : decay->weights ? 70 : 82;
}

uint128 decay_table_weights(const struct decay_table *decay, uint64_t a, uint64_t b,
                            uint64_t *narrow)
{
    *narrow = 0;
    a = a < decay->start ? decay->start : a;
    b = b > decay->now ? decay->now : b;
    if (a >= b)
        return 0;
    uint128 from = decay_epoch_of(decay, a), to = decay_epoch_of(decay, b);
    unsigned bits = narrow_bits(decay);
    *narrow = (uint64_t)(to >> bits) - (uint64_t)(from >> bits);
    return to - from;
}

uint64_t decay_table_narrow_weight(const struct decay_table *decay, uint64_t a, uint64_t b)
{
    uint64_t narrow;
    decay_table_weights(decay, a, b, &narrow);
    return narrow;
}

double decay_table_narrow_usage(const struct decay_table *decay, int128 sum)
{
    struct wide wide = { { (uint64_t)sum, (uint64_t)(sum >> 64) } };
    if (sum <= 0)
        return 0;
    if (!decay->rational) {
        struct floating number = floating_of_sum(&wide);
        number.exponent += (int)narrow_bits(decay);
        return floating_to_double(floating_product(number, decay->usage_of_unit));
    }
    wide = (struct wide){ { 0 } };
    wide_add_product(&wide, (uint128)sum, (uint128)1 << narrow_bits(decay), false);
    return decay_table_usage(decay, &wide);
}

uint128 decay_table_weight(const struct decay_table *decay, uint64_t a, uint64_t b)
{
    a = a < decay->start ? decay->start : a;
    b = b > decay->now ? decay->now : b;
    return a < b ? decay_epoch_of(decay, b) - decay_epoch_of(decay, a) : 0;
}

uint128 decay_table_weight_at(const struct decay_table *decay, uint64_t time)
{
    uint64_t phase;
    if (time < decay->start || time > decay->now)
        return 0;
    if (!decay->half_life)
        return 1;
    if (!decay->weights)
        return wide_high_product(decay_epoch_of(decay, time), LN_2) / decay->half_life;
    uint64_t period = divide(decay->by_period, time + decay->shift, &phase);
    return decay->weights[(period < decay->newest ? period : decay->newest) - decay->oldest];
}

struct floating decay_table_usage_floating(const struct decay_table *decay, const struct wide *sum)
{
    return floating_product(floating_of_sum(sum), decay->usage_of_unit);
}

double decay_table_usage(const struct decay_table *decay, const struct wide *sum)
{
    if (wide_is_zero(sum))
        return 0;
    if (!decay->rational)
        return floating_to_double(decay_table_usage_floating(decay, sum));
    struct natural number = natural_of_wide(sum);
    struct natural unit = natural_of(1000000);
    unit = natural_shifted(&unit, decay->denominator_bits);
    return natural_quotient(&number, &unit);
}

struct floating decay_table_unit(const struct decay_table *decay, uint64_t *divisor)
{
    *divisor = decay->rational ? 1000000 : 1;
    if (decay->rational)
        return (struct floating){ (uint128)1 << 127, -127 - (int)decay->denominator_bits };
    return decay->usage_of_unit;
}

bool decay_table_sum_of(const struct decay_table *decay, double usage, struct wide *sum)
{
    *sum = (struct wide){ { 0 } };
    if (!(usage > 0))
        return true;
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(usage, &exponent), 53);
    struct floating number = { (uint128)mantissa << 75, exponent - 128 };
    number = floating_product(number, decay->units_of_usage);
    if (number.exponent + 128 > 254)
        return false;
    struct natural natural = natural_of_floating(number);
    *sum = wide_of_natural(&natural);
    return true;
}

/* Rollups. */

bool rollup_usage(const struct decay_table *decay, const struct rollup *rollup, uint64_t since,
                  uint64_t until, uint128 rate, struct wide *usage)
{
    uint128 units;
    *usage = (struct wide){ { 0 } };
    if (__builtin_mul_overflow(rate, (uint128)rollup->alloc_secs, &units))
        return false;
    uint64_t end = rollup->end < until ? rollup->end : until;
    uint128 weight = decay_table_weight(decay, rollup->start < since ? since : rollup->start, end);
    /* The product is below 2^128 * 2^126. */
    struct natural factors[] = { natural_of(units), natural_of(weight) };
    struct natural product = natural_product(&factors[0], &factors[1]);
    natural_divide(&product, rollup->end - rollup->start);
    *usage = wide_of_natural(&product);
    return true;
}
