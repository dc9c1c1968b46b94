/* SPDX-License-Identifier: MIT */
#include "core/number/floating.h"

#include <math.h>

/* Shifts the mantissa until its highest bit is set. */
static struct floating normal(uint128 mantissa, int exponent)
{
    uint64_t high = (uint64_t)(mantissa >> 64);
    if (!mantissa)
        return (struct floating){ 0, 0 };
    int shift = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)mantissa);
    return (struct floating){ mantissa << shift, exponent - shift };
}

struct floating floating_of(uint64_t number)
{
    return normal(number, 0);
}

struct floating floating_of_double(double number)
{
    int exponent;
    double fraction = frexp(number, &exponent);
    return normal((uint64_t)ldexp(fraction, 53), exponent - 53);
}

struct floating floating_divided(struct floating a, uint64_t divisor)
{
    /* If the divisor's highest bit is set, the first word of the quotient has 63 or 64 bits, and
     * one more division gives the second word. */
    int shift = __builtin_clzll(divisor);
    uint64_t by = divisor << shift, high = (uint64_t)(a.mantissa >> 64), word[3];
    if (!a.mantissa)
        return a;
    word[0] = high >= by;
    uint128 rest = (uint128)(high - (word[0] ? by : 0)) << 64 | (uint64_t)a.mantissa;
    word[1] = (uint64_t)(rest / by);
    rest = (rest % by) << 64;
    word[2] = (uint64_t)(rest / by);
    uint128 quotient = (uint128)word[1] << 64 | word[2];
    /* a / by is (word[0] + word[1] / 2^64 + word[2] / 2^128) * 2^64. */
    if (word[0])
        return (struct floating){ (uint128)1 << 127 | quotient >> 1, a.exponent + shift - 63 };
    return normal(quotient, a.exponent + shift - 64);
}

/* Returns floor(2^64 * high / by) and replaces *high by the remainder.  *high must be below `by`,
 * and the highest bit of `by` must be set. */
static uint64_t divide_word(uint128 *high, uint128 by)
{
    uint64_t top = (uint64_t)(by >> 64), low = (uint64_t)by, rest_top;
    uint64_t digit = (uint64_t)(*high >> 64) == top ? UINT64_MAX : (uint64_t)(*high / top);
    /* rest = 2^64 * high - digit * by.  `digit` may be too high, by at most 2. */
    uint128 product_low = (uint128)digit * low;
    uint128 product_high = (uint128)digit * top + (product_low >> 64);
    uint128 rest = (*high << 64) - (product_high << 64 | (uint64_t)product_low);
    rest_top = (uint64_t)(*high >> 64) - (uint64_t)(product_high >> 64) -
               ((*high << 64) < (product_high << 64 | (uint64_t)product_low));
    while (rest_top) {
        rest += by;
        rest_top += rest < by;
        digit--;
    }
    *high = rest;
    return digit;
}

struct floating floating_quotient(struct floating a, struct floating divisor)
{
    if (!a.mantissa)
        return a;
    uint128 rest = a.mantissa;
    bool whole = rest >= divisor.mantissa;
    if (whole)
        rest -= divisor.mantissa;
    uint64_t high = divide_word(&rest, divisor.mantissa);
    uint128 quotient = (uint128)high << 64 | divide_word(&rest, divisor.mantissa);
    int exponent = a.exponent - divisor.exponent - 128;
    if (whole)
        return (struct floating){ (uint128)1 << 127 | quotient >> 1, exponent + 1 };
    return normal(quotient, exponent);
}

struct floating floating_difference(struct floating a, struct floating b)
{
    int apart = a.exponent - b.exponent;
    if (!b.mantissa || apart > 127)
        return a;
    return normal(a.mantissa - (b.mantissa >> apart), a.exponent);
}

int floating_compare(struct floating a, struct floating b)
{
    if (!a.mantissa || !b.mantissa)
        return (a.mantissa != 0) - (b.mantissa != 0);
    if (a.exponent != b.exponent)
        return a.exponent < b.exponent ? -1 : 1;
    return (a.mantissa > b.mantissa) - (a.mantissa < b.mantissa);
}

bool floating_is_near(struct floating a, struct floating b, uint128 units)
{
    if (floating_compare(a, b) < 0)
        return floating_is_near(b, a, units);
    if (!a.mantissa || !b.mantissa || a.exponent - b.exponent > 1)
        return a.mantissa == b.mantissa;
    return a.mantissa - (b.mantissa >> (a.exponent - b.exponent)) <= 2 * units;
}

/* ---- the x86 long double ---- */

struct extended extended_infinite(void)
{
    return (struct extended){ UINT64_C(1) << 63, EXTENDED_INFINITE };
}

struct extended extended_of_double(double number)
{
    if (number == 0)
        return (struct extended){ 0, 0 };
    int exponent;
    double fraction = frexp(number, &exponent);
    return (struct extended){ (uint64_t)ldexp(fraction, 64), exponent - 64 };
}

/* Adds 1 to the mantissa.  If it overflows, the result is the next power of two. */
static struct extended rounded_up(uint64_t mantissa, int exponent)
{
    if (mantissa == UINT64_MAX)
        return (struct extended){ UINT64_C(1) << 63, exponent + 1 };
    return (struct extended){ mantissa + 1, exponent };
}

struct extended extended_of_floating(struct floating number)
{
    if (!number.mantissa)
        return (struct extended){ 0, 0 };
    uint64_t mantissa = (uint64_t)(number.mantissa >> 64), rest = (uint64_t)number.mantissa;
    int exponent = number.exponent + 64;
    uint64_t half = UINT64_C(1) << 63;
    if (rest > half || (rest == half && (mantissa & 1)))
        return rounded_up(mantissa, exponent);
    return (struct extended){ mantissa, exponent };
}

struct extended extended_quotient(struct extended dividend, struct extended divisor)
{
    if (!dividend.mantissa || dividend.exponent == EXTENDED_INFINITE)
        return dividend;
    int scale = dividend.mantissa >= divisor.mantissa ? 63 : 64;
    uint128 scaled = (uint128)dividend.mantissa << scale;
    uint64_t mantissa = (uint64_t)(scaled / divisor.mantissa);
    uint64_t rest = (uint64_t)(scaled % divisor.mantissa), other = divisor.mantissa - rest;
    int exponent = dividend.exponent - divisor.exponent - scale;
    if (rest > other || (rest == other && (mantissa & 1)))
        return rounded_up(mantissa, exponent);
    return (struct extended){ mantissa, exponent };
}

int extended_compare(struct extended a, struct extended b)
{
    if (!a.mantissa || !b.mantissa)
        return (a.mantissa != 0) - (b.mantissa != 0);
    if (a.exponent != b.exponent)
        return a.exponent < b.exponent ? -1 : 1;
    return (a.mantissa > b.mantissa) - (a.mantissa < b.mantissa);
}

double extended_to_double(struct extended number)
{
    if (number.exponent == EXTENDED_INFINITE)
        return INFINITY;
    /* The conversion rounds ties to even, as the x86 does. */
    return ldexp((double)number.mantissa, number.exponent);
}
