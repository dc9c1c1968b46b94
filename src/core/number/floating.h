/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_NUMBER_FLOATING_H
#define FAIRMILL_CORE_NUMBER_FLOATING_H

#include "core/number/wide.h"

/* Arithmetic on numbers of 128 significant bits that are not negative.  What does not fit is cut,
 * so each function here is low by less than 2^-126 of its result. */

struct floating floating_of(uint64_t number);
/* The highest 128 bits of a sum that is not negative.  This and the next are `inline`, as every
 * association needs them a few times. */
static inline struct floating floating_of_sum(const struct wide *sum)
{
    const uint64_t *word = sum->word;
    int last = word[3] ? 3 : word[2] ? 2 : word[1] ? 1 : 0;
    if (!word[last])
        return (struct floating){ 0, 0 };
    int shift = __builtin_clzll(word[last]);
    uint128 top = (uint128)word[last] << 64 | (last > 0 ? word[last - 1] : 0);
    if (shift)
        top = top << shift | (last > 1 ? word[last - 2] >> (64 - shift) : 0);
    return (struct floating){ top, last * 64 - 64 - shift };
}

static inline struct floating floating_times(struct floating a, uint64_t times)
{
    if (!a.mantissa || !times)
        return (struct floating){ 0, 0 };
    int shift = __builtin_clzll(times);
    times <<= shift;
    uint128 low = (uint128)(uint64_t)a.mantissa * times;
    uint128 high = (uint128)(uint64_t)(a.mantissa >> 64) * times + (uint64_t)(low >> 64);
    int exponent = a.exponent + 64 - shift;
    if (!(high >> 127))
        return (struct floating){ high << 1 | ((uint64_t)low >> 63), exponent - 1 };
    return (struct floating){ high, exponent };
}
struct floating floating_of_double(double number);
/* The divisor is not 0. */
struct floating floating_divided(struct floating a, uint64_t divisor);
struct floating floating_quotient(struct floating a, struct floating divisor);
/* Of a that is not below b. */
static inline struct floating floating_add(struct floating a, struct floating b)
{
    int apart = a.exponent - b.exponent;
    if (!b.mantissa || apart > 127)
        return a;
    uint128 sum = a.mantissa + (b.mantissa >> apart);
    if (sum < a.mantissa)
        return (struct floating){ (uint128)1 << 127 | sum >> 1, a.exponent + 1 };
    return (struct floating){ sum, a.exponent };
}

static inline struct floating floating_sum(struct floating a, struct floating b)
{
    bool less =
        !a.mantissa || (b.mantissa && (a.exponent < b.exponent ||
                                       (a.exponent == b.exponent && a.mantissa < b.mantissa)));
    return less ? floating_add(b, a) : floating_add(a, b);
}
/* a - b, where b is not above a. */
struct floating floating_difference(struct floating a, struct floating b);
int floating_compare(struct floating a, struct floating b);

/* Whether two numbers are so near that they may be one, each being off by up to so many units of
 * its mantissa. */
bool floating_is_near(struct floating a, struct floating b, uint128 units);
/* The nearest double; false where the number, being off by up to so many units of its mantissa,
 * does not tell which one that is. */
static inline bool floating_rounds(struct floating number, uint128 units, double *nearest)
{
    uint128 rest = number.mantissa & (((uint128)1 << 75) - 1), middle = (uint128)1 << 74;
    *nearest = floating_to_double(number);
    return !number.mantissa || (rest > middle ? rest - middle : middle - rest) > units;
}

/* The x86 long double, for numbers that are not negative: 64 bits of mantissa, rounded half to
 * even.  slurmctld's ties are ties of this format; here they come out alike on every machine. */
struct extended {
    uint64_t mantissa; /* its top bit is set, or it is 0 and the number with it */
    int exponent;      /* mantissa x 2^exponent; EXTENDED_INFINITE: infinite */
};
#define EXTENDED_INFINITE INT32_MAX

struct extended extended_infinite(void);
struct extended extended_of_double(double number);
struct extended extended_of_floating(struct floating number);
/* The divisor is neither 0 nor infinite. */
struct extended extended_quotient(struct extended dividend, struct extended divisor);
/* Below 0, 0 or above it, as a is less than, equal to or more than b. */
int extended_compare(struct extended a, struct extended b);
double extended_to_double(struct extended number);

#endif
