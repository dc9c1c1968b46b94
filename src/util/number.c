/* SPDX-License-Identifier: MIT */
#include "util/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/text.h"

typedef unsigned __int128 uint128;

bool number_unsigned(const char *bytes, size_t length, uint64_t *number)
{
    uint64_t sum = 0;
    if (!length)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(unsigned char)bytes[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(sum, (uint64_t)10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    *number = sum;
    return true;
}

bool number_signed(const char *bytes, size_t length, int64_t *number)
{
    bool negative = length && bytes[0] == '-';
    uint64_t magnitude;
    if (!number_unsigned(bytes + negative, length - negative, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool number_real(const char *text, double *number)
{
    if (!isdigit((unsigned char)text[0]) && !(text[0] == '-' && isdigit((unsigned char)text[1])) &&
        !(text[0] == '.' && isdigit((unsigned char)text[1])))
        return false;
    if (strpbrk(text, "xX"))
        return false;
    char *end;
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}

unsigned binary_suffix(const char *bytes, size_t *length)
{
    static const char suffixes[] = "KMGTP";
    const char *suffix =
        *length ? strchr(suffixes, toupper((unsigned char)bytes[*length - 1])) : NULL;
    if (!suffix || !*suffix)
        return 0;
    --*length;
    return (unsigned)(suffix - suffixes + 1);
}

bool add_product(uint64_t *sum, uint64_t count, uint64_t each)
{
    uint64_t product;
    return !__builtin_mul_overflow(count, each, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

/* Parses the exponent of a decimal, which ends at `end`. */
static bool decimal_exponent(const char *at, const char *end, int *exponent)
{
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    uint64_t number;
    if (end - at > 3 || !number_unsigned(at, (size_t)(end - at), &number))
        return false;
    *exponent = negative ? -(int)number : (int)number;
    return true;
}

bool decimal_parse(const char *bytes, size_t length, struct decimal *decimal)
{
    const char *at = bytes, *end = bytes + length;
    bool any = false, behind_point = false;
    /* How often decimal->digits must still be multiplied by 10.  Trailing zeros are added to the
     * power. */
    int zeros = 0;
    *decimal = (struct decimal){ 0 };
    for (; at < end && (isdigit((unsigned char)*at) || (*at == '.' && !behind_point)); at++) {
        if (*at == '.') {
            behind_point = true;
            continue;
        }
        any = true;
        decimal->power -= behind_point;
        zeros++;
        if (*at == '0')
            continue;
        for (; zeros; zeros--) {
            if (decimal->digits >= UINT64_C(100000000000000000))
                return false;
            decimal->digits *= 10;
        }
        decimal->digits += (uint64_t)(*at - '0');
    }
    decimal->power += zeros;
    int exponent = 0;
    if (!any ||
        (at < end && ((*at != 'e' && *at != 'E') || !decimal_exponent(at + 1, end, &exponent))))
        return false;
    decimal->power += exponent;
    if (!decimal->digits)
        decimal->power = 0;
    return true;
}

bool amount_parse(const char *bytes, size_t length, uint64_t unit, uint64_t *amount)
{
    struct decimal decimal;
    if (!decimal_parse(bytes, length, &decimal))
        return false;
    uint128 product = (uint128)decimal.digits * unit;
    for (; decimal.power < 0 && product; decimal.power++) {
        if (product % 10)
            return false;
        product /= 10;
    }
    for (; decimal.power > 0 && product && product < INT64_MAX; decimal.power--)
        product *= 10;
    *amount = (uint64_t)product;
    return product && product < INT64_MAX;
}

bool clock_span_parse(const char *bytes, size_t length, uint64_t *seconds)
{
    const char *at = bytes, *end = bytes + length;
    uint64_t sum = 0;
    for (int part = 0; part < 3; part++) {
        const char *colon = at < end ? memchr(at, ':', (size_t)(end - at)) : NULL;
        const char *stop = colon ? colon : end;
        uint64_t number;
        if (!number_unsigned(at, (size_t)(stop - at), &number) ||
            __builtin_mul_overflow(sum, (uint64_t)60, &sum) ||
            __builtin_add_overflow(sum, number, &sum))
            return false;
        at = stop + 1;
        if (!colon) {
            *seconds = sum;
            return true;
        }
    }
    return false;
}

/* Parses digits at `*at` and advances `*at` past them. */
static bool digits(const char **at, uint64_t *number)
{
    size_t length = strspn(*at, "0123456789");
    if (!number_unsigned(*at, length, number))
        return false;
    *at += length;
    return true;
}

bool time_string_parse(const char *text, uint64_t *seconds)
{
    uint64_t days = 0, hours = 0, minutes = 0, rest = 0, first;
    if (*text && text[strcspn(text, " smhdw")])
        return duration_parse(text, seconds);
    if (!digits(&text, &first))
        return false;
    if (*text == '\0') {
        minutes = first;
    } else {
        bool with_days = *text == '-';
        if (with_days) {
            days = first;
            text++;
            if (!digits(&text, &hours))
                return false;
        } else {
            hours = first;
        }
        if (*text == ':') {
            text++;
            if (!digits(&text, &minutes) || *text++ != ':' || !digits(&text, &rest))
                return false;
        }
        if (*text || minutes > 59 || rest)
            return false;
    }
    *seconds = 0;
    return add_product(seconds, days, 86400) && add_product(seconds, hours, 3600) &&
           add_product(seconds, minutes, 60);
}

bool duration_parse(const char *text, uint64_t *seconds)
{
    uint64_t count, unit = 1;
    if (!digits(&text, &count))
        return false;
    if (*text == ' ')
        text++;
    if (*text) {
        switch (*text++) {
        case 's':
            break;
        case 'm':
            unit = 60;
            break;
        case 'h':
            unit = 3600;
            break;
        case 'd':
            unit = 86400;
            break;
        case 'w':
            unit = 604800;
            break;
        default:
            return false;
        }
    }
    *seconds = 0;
    return !*text && add_product(seconds, count, unit);
}

/* A double's 53 bits times 5^32 are below 2^128.  scale() handles powers of two by shifting. */
#define LARGEST_POWER 32
#define EXACT_DIGITS 17
/* Like %g, prints 0.0001 without an exponent and 0.00001 as 1e-05. */
#define LEAST_WITHOUT_EXPONENT (-4)

static uint128 power_of_five(unsigned power)
{
    uint128 product = 1, base = 5;
    for (; power; power /= 2, base *= base)
        if (power & 1)
            product *= base;
    return product;
}

/*
 * Rounds number * 10^power to the nearest whole number, ties to even.  `number` must not be
 * negative.  Returns false if the result does not fit in 64 bits or cannot be computed exactly
 * here.
 */
static bool scale(double number, unsigned power, uint64_t *whole)
{
    uint64_t bits, one = 1;
    memcpy(&bits, &number, sizeof bits);
    int exponent = (int)(bits >> 52) - 1075;
    *whole = 0;
    if (power > LARGEST_POWER || exponent < -1074 || exponent > 971)
        /* 0 is scaled; subnormal numbers, infinity and NaN are not. */
        return !bits && power <= LARGEST_POWER;
    uint128 product = ((bits & ((one << 52) - 1)) | one << 52) * power_of_five(power);
    int shift = exponent + (int)power;
    if (shift >= 0) {
        *whole = (uint64_t)product << (shift < 64 ? shift : 0);
        return shift < 64 && product >> (64 - shift) == 0;
    }
    if (shift < -127) /* below -128 the result rounds to 0, because the product is below 2^127.4 */
        return shift < -128;
    uint128 half = (uint128)1 << (-shift - 1), rest = product & (2 * half - 1);
    product >>= -shift;
    product += rest > half || (rest == half && (product & 1));
    *whole = (uint64_t)product;
    return product >> 64 == 0;
}

/*
 * Writes the digits of `number`, padded with zeros to `least` digits, before `end`.  Returns the
 * start of the digits.
 */
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

struct grouped_number number_grouped(int64_t number)
{
    struct grouped_number text = { "" };
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRId64, number), at = 0;
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-')
            text.bytes[at++] = ',';
        text.bytes[at++] = digits[i];
    }
    return text;
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

/*
 * Computes the first 17 digits and the decimal exponent: number = D.DDD * 10^(*exponent).  Returns
 * false if scale() cannot compute the digits.
 */
static bool first_digits(double number, uint64_t *digits, int *exponent)
{
    const uint64_t too_many = UINT64_C(100000000000000000);
    int twos;
    frexp(number, &twos);
    *exponent = ((twos - 1) * 1233) >> 12; /* times log10(2), rounded down */
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

/* Appends 17 digits, the first of them nonzero, without trailing zeros. */
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
