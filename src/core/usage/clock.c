/* SPDX-License-Identifier: MIT */
#include "core/usage/clock.h"

#include <math.h>
#include <stdlib.h>

#include "core/number/floating.h"
#include "util/memory.h"

#define UINT128(high, low) ((uint128)(high) << 64 | (low))

/* ln 2 as a fraction of 2^128; 1 / ln 2 as a mantissa of 128 bits, times 2^-127. */
static const uint128 LN_2 = UINT128(0xb17217f7d1cf79ab, 0xc9e3b39803f2f6af);
static const uint128 ONE_BY_LN_2 = UINT128(0xb8aa3b295c17f0bb, 0xbe87fed0691d3e88);

/* A number to divide by again and again, and floor((2^64 - 1) / number): the processor's own
 * division takes as long as all else that a row costs here, and each row needs four. */
struct divisor {
    uint64_t number, reciprocal;
};

struct clock {
    uint64_t half_life, now, start;
    uint64_t first_half_life; /* e */
    /* What turns a sum into TRES-seconds, or 2^denominator_bits x 10^6 to divide by where that is
     * a rational number. */
    struct floating usage_of_unit, units_of_usage;
    bool rational;
    unsigned denominator_bits;
    /* R(f) = coarse[f div step] x fine[f mod step], the constant folded into coarse. */
    uint64_t step;
    bool shares_tables; /* they are another clock's */
    uint128 *coarse, *fine;
    struct divisor by_half_life, by_step;
    /* Of steps: behind `shift` seconds periods are numbered from 0, and the first one that counts
     * has number `oldest`.  By period from that on: its weight, and Q where it begins. */
    uint64_t shift, oldest, newest;
    struct divisor by_period;
    double factor;
    uint128 *weights, *begins;
};

static struct divisor divisor_of(uint64_t number)
{
    return (struct divisor){ number, UINT64_MAX / number };
}

/* The quotient and what is left.  The estimate is the quotient or one less. */
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

/* 2^(part / whole) for 0 <= part < whole, as a mantissa of 128 bits times 2^-127.  The series of
 * exp; each of some thirty terms is cut by less than 2^-127. */
static uint128 power_of_two(uint64_t part, uint64_t whole)
{
    /* exponent = ln 2 x part / whole as a fraction of 2^128, divided word by word */
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

/* 2^s H / ln 2 as a number in [2^127, 2^128), and s. */
static uint128 scaled_half_life(uint64_t half_life, int *s)
{
    uint128 low = (uint128)(uint64_t)ONE_BY_LN_2 * half_life;
    uint128 high = (uint128)(uint64_t)(ONE_BY_LN_2 >> 64) * half_life + (low >> 64);
    /* Three words; bring the highest bit to the top.  The top word is below the half-life. */
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

static void make_tables(struct clock *clock, uint128 scale)
{
    uint64_t half_life = clock->half_life;
    clock->step = (uint64_t)sqrt((double)half_life) + 1;
    clock->by_half_life = divisor_of(half_life);
    clock->by_step = divisor_of(clock->step);
    uint64_t count = half_life / clock->step + 1;
    clock->coarse = memory_zeroed(count, sizeof *clock->coarse);
    clock->fine = memory_zeroed(clock->step, sizeof *clock->fine);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t phase = i * clock->step;
        clock->coarse[i] = wide_high_product(scale, power_of_two(phase % half_life, half_life));
    }
    for (uint64_t i = 0; i < clock->step; i++)
        clock->fine[i] = power_of_two(i % half_life, half_life);
}

/* 10^-6 to 128 bits: 2^141 / 15625 x 2^-147. */
static struct floating one_millionth(void)
{
    uint128 top = (uint128)1 << 127;
    uint128 mantissa = ((top / 15625) << 14) + ((top % 15625) << 14) / 15625;
    return (struct floating){ mantissa, -147 };
}

/* What turns sums in which a second now weighs 2^age_bits x 2^(phase / half-life) into usage. */
static void set_units(struct clock *clock, int age_bits, uint64_t phase)
{
    uint64_t half_life = clock->half_life;
    clock->rational = phase == 0;
    clock->denominator_bits = (unsigned)(20 + age_bits);

    /* 2^-(phase/H) is half of 2^((H-phase)/H). */
    struct floating aged = { (uint128)1 << 127, -127 }, fresh = aged;
    if (phase) {
        aged = (struct floating){ power_of_two(half_life - phase, half_life), -128 };
        fresh = (struct floating){ power_of_two(phase, half_life), -127 };
    }
    clock->usage_of_unit = floating_product(one_millionth(), aged);
    clock->usage_of_unit.exponent -= 20 + age_bits;
    clock->units_of_usage =
        floating_product((struct floating){ (uint128)1000000 << 108, -108 }, fresh);
    clock->units_of_usage.exponent += 20 + age_bits;
}

uint64_t clock_grid_at(uint64_t half_life, uint64_t now)
{
    uint64_t block = half_life ? now / half_life / 8 * 8 : 0;
    return block > 56 ? block - 56 : 0;
}

/* `other`: whose tables it shares; NULL: it makes its own. */
static struct clock *create(const struct clock *other, uint64_t half_life, uint64_t now,
                            uint64_t start)
{
    struct clock *clock = memory_zeroed(1, sizeof *clock);
    if (other)
        *clock = *other;
    clock->half_life = half_life;
    clock->now = now;
    clock->start = start;
    clock->shares_tables = other != NULL;

    int age_bits = 0;
    uint64_t phase = 0;
    if (half_life) {
        int s;
        uint128 scale = scaled_half_life(half_life, &s);
        if (!other)
            make_tables(clock, scale);
        clock->first_half_life = clock_grid_at(half_life, now);
        if (start < clock->first_half_life * half_life)
            clock->start = clock->first_half_life * half_life;
        age_bits = s + (int)(now / half_life - clock->first_half_life);
        phase = now % half_life;
    }
    set_units(clock, age_bits, phase);
    return clock;
}

struct clock *clock_create(uint64_t half_life, uint64_t now, uint64_t start)
{
    return create(NULL, half_life, now, start);
}

struct clock *clock_create_like(const struct clock *other, uint64_t now, uint64_t start)
{
    return create(other, other->half_life, now, start);
}

/* ---- steps ---- */

#define STEP_BITS 88

/* Seconds that make instants of steps multiples of the period. */
static uint64_t shift_of(const struct clock_steps *steps)
{
    return steps->period - steps->epoch % steps->period;
}

/* The period that `now` is in: one of these instants belongs to the period that it ends. */
static uint64_t newest_period(const struct clock_steps *steps, uint64_t now)
{
    return (now + shift_of(steps) - 1) / steps->period;
}

uint64_t clock_steps_count(const struct clock_steps *steps, uint64_t now, uint64_t start)
{
    uint64_t newest = newest_period(steps, now);
    uint64_t first = (start + shift_of(steps)) / steps->period;
    uint64_t count = newest > first ? newest - first + 1 : 1;
    double felt = ceil(64 / -log2(steps->factor));
    return (double)count > felt ? (uint64_t)felt : count;
}

/* The newest weight is 2^STEP_BITS, and behind it is one for `now` where that ends a period. */
static void make_weights(struct clock *clock, const struct clock_steps *steps)
{
    uint64_t count = clock->newest - clock->oldest + 1;
    struct floating factor = floating_of_double(steps->factor);
    struct floating weight = { (uint128)1 << 127, STEP_BITS - 127 };
    clock->weights = memory_zeroed(count + 1, sizeof *clock->weights);
    clock->begins = memory_zeroed(count + 1, sizeof *clock->begins);
    for (uint64_t i = count; i-- > 0; weight = floating_product(weight, factor)) {
        struct natural whole = natural_of_floating(weight);
        clock->weights[i] = natural_low(&whole);
    }
    for (uint64_t i = 0; i < count; i++)
        clock->begins[i + 1] = clock->begins[i] + clock->weights[i] * steps->period;
}

struct clock *clock_create_stepped(const struct clock_steps *steps, uint64_t now, uint64_t start)
{
    struct clock *clock = memory_zeroed(1, sizeof *clock);
    *clock = (struct clock){ .half_life = steps->half_life, .now = now, .start = start };
    clock->shift = shift_of(steps);
    clock->by_period = divisor_of(steps->period);
    clock->factor = steps->factor;
    clock->newest = newest_period(steps, now);
    clock->oldest = clock->newest + 1 - clock_steps_count(steps, now, start);
    uint64_t begin = clock->oldest * steps->period;
    if (begin > clock->shift && start < begin - clock->shift)
        clock->start = begin - clock->shift;
    make_weights(clock, steps);
    set_units(clock, STEP_BITS, 0);
    return clock;
}

void clock_destroy(struct clock *clock)
{
    if (!clock)
        return;
    if (!clock->shares_tables) {
        free(clock->coarse);
        free(clock->fine);
    }
    free(clock->weights);
    free(clock->begins);
    free(clock);
}

uint64_t clock_now(const struct clock *clock)
{
    return clock->now;
}

uint64_t clock_half_life(const struct clock *clock)
{
    return clock->half_life;
}

bool clock_is_stepped(const struct clock *clock)
{
    return clock->weights != NULL;
}

double clock_left(const struct clock *clock, uint64_t instant)
{
    uint64_t phase, period;
    if (!clock->half_life || instant >= clock->now)
        return 1;
    if (!clock->weights)
        return exp2(-(double)(clock->now - instant) / (double)clock->half_life);
    period = divide(clock->by_period, instant + clock->shift, &phase);
    return pow(clock->factor, (double)(clock->newest - period));
}

uint64_t clock_start(const struct clock *clock)
{
    return clock->start;
}

uint64_t clock_grid(const struct clock *clock)
{
    return clock->first_half_life;
}

/* Q(t) for an instant within the grid. */
static uint128 grid(const struct clock *clock, uint64_t t)
{
    if (!clock->half_life)
        return t;
    uint64_t phase, fine;
    if (clock->weights) {
        uint64_t i = divide(clock->by_period, t + clock->shift, &phase) - clock->oldest;
        return clock->begins[i] + clock->weights[i] * phase;
    }
    uint64_t half_life = divide(clock->by_half_life, t, &phase);
    uint64_t coarse = divide(clock->by_step, phase, &fine);
    uint128 fraction = wide_high_product(clock->coarse[coarse], clock->fine[fine]);
    uint64_t r = (uint64_t)((fraction + ((uint128)1 << 63)) >> 64);
    return (uint128)r << (half_life - clock->first_half_life);
}

uint128 clock_weight(const struct clock *clock, uint64_t a, uint64_t b)
{
    a = a < clock->start ? clock->start : a;
    b = b > clock->now ? clock->now : b;
    return a < b ? grid(clock, b) - grid(clock, a) : 0;
}

/* ln 2 x 2^128 */
#define LN_2 UINT128(UINT64_C(0xb17217f7d1cf79ab), UINT64_C(0xc9e3b39803f2f6af))

uint128 clock_weight_at(const struct clock *clock, uint64_t instant)
{
    uint64_t phase;
    if (instant < clock->start || instant > clock->now)
        return 0;
    if (!clock->half_life)
        return 1;
    if (!clock->weights)
        return wide_high_product(grid(clock, instant), LN_2) / clock->half_life;
    uint64_t period = divide(clock->by_period, instant + clock->shift, &phase);
    return clock->weights[(period < clock->newest ? period : clock->newest) - clock->oldest];
}

struct floating clock_usage_floating(const struct clock *clock, const struct wide *sum)
{
    struct natural number = natural_of_wide(sum);
    return floating_product(natural_top(&number), clock->usage_of_unit);
}

double clock_usage(const struct clock *clock, const struct wide *sum)
{
    if (wide_is_zero(sum))
        return 0;
    if (!clock->rational)
        return floating_to_double(clock_usage_floating(clock, sum));
    struct natural number = natural_of_wide(sum);
    struct natural unit = natural_of(1000000);
    unit = natural_shifted(&unit, clock->denominator_bits);
    return natural_quotient(&number, &unit);
}

struct floating clock_unit(const struct clock *clock, uint64_t *divisor)
{
    *divisor = clock->rational ? 1000000 : 1;
    if (clock->rational)
        return (struct floating){ (uint128)1 << 127, -127 - (int)clock->denominator_bits };
    return clock->usage_of_unit;
}

bool clock_sum_of(const struct clock *clock, double usage, struct wide *sum)
{
    *sum = (struct wide){ { 0 } };
    if (!(usage > 0))
        return true;
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(usage, &exponent), 53);
    struct floating number = { (uint128)mantissa << 75, exponent - 128 };
    number = floating_product(number, clock->units_of_usage);
    if (number.exponent + 128 > 254)
        return false;
    struct natural natural = natural_of_floating(number);
    *sum = wide_of_natural(&natural);
    return true;
}

/* ---- rollups ---- */

bool rollup_usage(const struct clock *clock, const struct rollup *rollup, uint64_t since,
                  uint64_t until, uint128 rate, struct wide *usage)
{
    uint128 units;
    *usage = (struct wide){ { 0 } };
    if (__builtin_mul_overflow(rate, (uint128)rollup->alloc_secs, &units))
        return false;
    uint64_t end = rollup->end < until ? rollup->end : until;
    uint128 weight = clock_weight(clock, rollup->start < since ? since : rollup->start, end);
    /* Below 2^128 x 2^126. */
    struct natural factors[] = { natural_of(units), natural_of(weight) };
    struct natural product = natural_product(&factors[0], &factors[1]);
    natural_divide(&product, rollup->end - rollup->start);
    *usage = wide_of_natural(&product);
    return true;
}
