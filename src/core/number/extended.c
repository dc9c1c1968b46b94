/* SPDX-License-Identifier: MIT */
#include "core/number/extended.h"

#include <math.h>

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

/* Round up the mantissa; where it overflows the next power of two is meant. */
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
    /* The conversion rounds half to even, as the x86 does. */
    return ldexp((double)number.mantissa, number.exponent);
}
