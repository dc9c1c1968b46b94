/* SPDX-License-Identifier: MIT */
#include "core/usage/charge_rate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* UNITS_PER_TRES is 10^UNIT_DECIMALS * 2^UNIT_BITS. */
#define UNIT_DECIMALS 6
#define UNIT_BITS 20

#define RATE_BITS 104

static struct natural power_of_ten(unsigned power)
{
    struct natural number = natural_of(1);
    for (; power >= 19; power -= 19)
        number = natural_times(&number, UINT64_C(10000000000000000000));
    for (; power; power--)
        number = natural_times(&number, 10);
    return number;
}

/* Returns the numerator divided by the denominator, rounded half to even, or RATE_TOO_LARGE. */
static uint128 rounded_quotient(struct natural numerator, const struct natural *denominator)
{
    int shift = (int)natural_bits(&numerator) - (int)natural_bits(denominator);
    /* The quotient is between 2^(shift-1) and 2^(shift+1). */
    if (shift > RATE_BITS)
        return RATE_TOO_LARGE;
    uint128 quotient = 0;
    for (; shift >= 0; shift--) {
        struct natural part = natural_shifted(denominator, (unsigned)shift);
        quotient <<= 1;
        if (natural_compare(&numerator, &part) >= 0) {
            numerator = natural_difference(&numerator, &part);
            quotient |= 1;
        }
    }
    struct natural twice = natural_shifted(&numerator, 1);
    int side = natural_compare(&twice, denominator);
    quotient += side > 0 || (side == 0 && (quotient & 1));
    return quotient < RATE_TOO_LARGE ? quotient : RATE_TOO_LARGE;
}

uint128 rate_of_product(const struct decimal *factors, size_t count, unsigned halvings)
{
    struct natural numerator = natural_of(1), denominator = natural_of(1);
    int power = UNIT_DECIMALS, bits = UNIT_BITS - (int)halvings;
    for (size_t i = 0; i < count; i++) {
        numerator = natural_times(&numerator, factors[i].digits);
        power += factors[i].power;
    }
    if (!numerator.length)
        return 0;
    /* Outside this range of powers the result is known.  Within the range all numbers fit: the
     * digits have 240 bits, 10^64 exceeds 2^(104+50), and 10^-110 is below 2^-(240+20). */
    if (power > 64)
        return RATE_TOO_LARGE;
    if (power < -110)
        return 0;
    struct natural ten = power_of_ten((unsigned)abs(power));
    if (power >= 0)
        numerator = natural_product(&numerator, &ten);
    else
        denominator = ten;
    if (bits >= 0)
        numerator = natural_shifted(&numerator, (unsigned)bits);
    else
        denominator = natural_shifted(&denominator, (unsigned)-bits);
    if (natural_bits(&denominator) > 1)
        return rounded_quotient(numerator, &denominator);
    return natural_bits(&numerator) <= RATE_BITS ? natural_low(&numerator) : RATE_TOO_LARGE;
}

struct decimal decimal_of_factor(double factor)
{
    if (!(factor >= 0) || !isfinite(factor))
        factor = 1;
    char text[40];
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, factor);
        if (strtod(text, NULL) == factor)
            break;
    }
    struct decimal decimal;
    decimal_parse(text, strlen(text), &decimal);
    return decimal;
}

double decimal_nearest(const struct decimal *decimal)
{
    char text[40];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", decimal->digits, decimal->power);
    return strtod(text, NULL);
}

uint128 rate_of_factor(double factor)
{
    struct decimal decimal = decimal_of_factor(factor);
    return rate_of_product(&decimal, 1, 0);
}
