/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_NUMBER_FLOATING_H
#define FAIRMILL_CORE_NUMBER_FLOATING_H

#include "core/number/wide.h"

/* Arithmetic on non-negative numbers of 128 significant bits.  Results that do not fit are
 * truncated, so that they are too low by less than 2^-126 of the result.  The exception is
 * floating_difference(). */

struct floating floating_of(uint64_t number);
/* Returns the highest 128 bits of a sum that must not be negative.  This function and the next are
 * `inline` because they are called several times for each association. */
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
/* The divisor must not be 0. */
struct floating floating_divided(struct floating a, uint64_t divisor);
struct floating floating_quotient(struct floating a, struct floating divisor);
/* Returns a + b; a must not be below b. */
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
/* Returns a - b; b must not be above a.  The result may be too high, by less than one unit of a's
 * mantissa. */
struct floating floating_difference(struct floating a, struct floating b);
int floating_compare(struct floating a, struct floating b);

/* Returns true if the exact values may be equal, although each number may be wrong by up to `units`
 * units of its mantissa. */
bool floating_is_near(struct floating a, struct floating b, uint128 units);
/* Sets *nearest to the nearest double.  Returns false if a different double may be the nearest,
 * because `number` may be wrong by up to `units` units of its mantissa. */
static inline bool floating_rounds(struct floating number, uint128 units, double *nearest)
{
    uint128 rest = number.mantissa & (((uint128)1 << 75) - 1), middle = (uint128)1 << 74;
    *nearest = floating_to_double(number);
    return !number.mantissa || (rest > middle ? rest - middle : middle - rest) > units;
}

/* Non-negative numbers in the format of the x86 long double: 64 bits of mantissa, ties rounded to
 * even.  Ties in slurmctld are ties of this format, and this code gives the same ties on every
 * machine. */
struct extended {
    uint64_t mantissa; /* the highest bit is set, or the number is 0 */
    int exponent;      /* mantissa * 2^exponent, or EXTENDED_INFINITE */
};
#define EXTENDED_INFINITE INT32_MAX

struct extended extended_infinite(void);
struct extended extended_of_double(double number);
struct extended extended_of_floating(struct floating number);
/* The divisor must be neither 0 nor infinite. */
struct extended extended_quotient(struct extended dividend, struct extended divisor);
/* Returns a negative number if a < b, 0 if a and b are equal, or a positive number if a > b. */
int extended_compare(struct extended a, struct extended b);
double extended_to_double(struct extended number);

#endif
