/* SPDX-License-Identifier: MIT */
#include "util/digits.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/text.h"

typedef unsigned __int128 uint128;

/* Ten to this power times any double's 53 bits is, without the power of two in it, below 2^128. */
#define LARGEST_POWER 32
#define EXACT_DIGITS 17
/* 0.0001 is printed so, 0.00001 as 1e-05. */
#define LEAST_WITHOUT_EXPONENT (-4)

static uint128 power_of_five(unsigned power)
{
    uint128 product = 1, base = 5;
    for (; power; power /= 2, base *= base)
        if (power & 1)
            product *= base;
    return product;
}

/* The whole number nearest to a double of at least 0 times ten to the power, ties to even; false
 * where that is not to be had in 64 bits. */
static bool scale(double number, unsigned power, uint64_t *whole)
{
    uint64_t bits, one = 1;
    memcpy(&bits, &number, sizeof bits);
    int exponent = (int)(bits >> 52) - 1075;
    *whole = 0;
    if (power > LARGEST_POWER || exponent < -1074 || exponent > 971)
        return !bits && power <= LARGEST_POWER; /* else subnormal, infinite or no number */
    uint128 product = ((bits & ((one << 52) - 1)) | one << 52) * power_of_five(power);
    int shift = exponent + (int)power;
    if (shift >= 0) {
        *whole = (uint64_t)product << (shift < 64 ? shift : 0);
        return shift < 64 && product >> (64 - shift) == 0;
    }
    if (shift < -127) /* less than a half, as the product is below 2^127.4 */
        return shift < -128;
    uint128 half = (uint128)1 << (-shift - 1), rest = product & (2 * half - 1);
    product >>= -shift;
    product += rest > half || (rest == half && (product & 1));
    *whole = (uint64_t)product;
    return product >> 64 == 0;
}

/* The digits in front of `end`, at least so many; returns where they begin. */
static char *digits_before(char *end, uint64_t number, int least)
{
    for (; number || least > 0; number /= 10, least--)
        *--end = (char)('0' + number % 10);
    return end;
}

void text_add_integer(struct text *text, int64_t number)
{
    char digits[24], *end = digits + sizeof digits;
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *at = digits_before(end, magnitude, 1);
    if (number < 0)
        *--at = '-';
    text_add_bytes(text, at, (size_t)(end - at));
}

void text_add_fixed(struct text *text, double number, int decimals)
{
    uint64_t whole;
    if (decimals < 0 || !scale(fabs(number), (unsigned)decimals, &whole)) {
        text_format(text, "%.*f", decimals, number);
        return;
    }
    char digits[24 + LARGEST_POWER], *end = digits + sizeof digits;
    char *at = end;
    for (int i = 0; i < decimals; i++, whole /= 10)
        *--at = (char)('0' + whole % 10);
    if (decimals)
        *--at = '.';
    at = digits_before(at, whole, 1);
    if (signbit(number))
        *--at = '-';
    text_add_bytes(text, at, (size_t)(end - at));
}

/* The first 17 digits, and where its point is: number = D.DDD x 10^*exponent. */
static bool first_digits(double number, uint64_t *digits, int *exponent)
{
    const uint64_t too_many = UINT64_C(100000000000000000);
    int twos;
    frexp(number, &twos);
    *exponent = ((twos - 1) * 1233) >> 12; /* log10(2), not too large */
    for (;; ++*exponent) {
        int power = EXACT_DIGITS - 1 - *exponent;
        if (power < 0 || !scale(number, (unsigned)power, digits))
            return false;
        if (*digits < too_many)
            return *digits >= too_many / 10;
    }
}

static void add_exponent(struct text *text, int exponent)
{
    char digits[8], *end = digits + sizeof digits;
    char *at = digits_before(end, (uint64_t)(exponent < 0 ? -exponent : exponent), 2);
    text_add(text, exponent < 0 ? "e-" : "e+");
    text_add_bytes(text, at, (size_t)(end - at));
}

/* 17 digits of a number, the first of which is not 0, without the last ones that are. */
static void add_digits(struct text *text, const char *digits, int exponent)
{
    bool has_exponent = exponent < LEAST_WITHOUT_EXPONENT;
    size_t count = EXACT_DIGITS,
           before = has_exponent ? 1 : (size_t)(exponent < 0 ? 0 : exponent + 1);
    while (count > before && digits[count - 1] == '0')
        count--;
    text_add_bytes(text, digits, before);
    text_add(text, !before ? "0." : count > before ? "." : "");
    if (!before)
        text_add_bytes(text, "000", (size_t)(-exponent - 1));
    text_add_bytes(text, digits + before, count - before);
    if (has_exponent)
        add_exponent(text, exponent);
}

void text_add_exact(struct text *text, double number)
{
    uint64_t whole;
    int exponent;
    char digits[EXACT_DIGITS];
    if (!(fabs(number) > 0) && !isnan(number)) {
        text_add(text, signbit(number) ? "-0" : "0");
        return;
    }
    if (!first_digits(fabs(number), &whole, &exponent)) {
        text_format(text, "%.17g", number);
        return;
    }
    digits_before(digits + EXACT_DIGITS, whole, EXACT_DIGITS);
    text_add(text, signbit(number) ? "-" : "");
    add_digits(text, digits, exponent);
}
