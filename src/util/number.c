/* SPDX-License-Identifier: MIT */
#include "util/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* The exponent that a decimal ends with, in bytes up to its end. */
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
    int zeros = 0; /* read and not yet part of the digits; those at the end never are */
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

/* Read digits at *at and step over them. */
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

/* Exactly `width` digits. */
static bool fixed(const char **at, size_t width, int *number)
{
    uint64_t value;
    if (strspn(*at, "0123456789") < width || !number_unsigned(*at, width, &value))
        return false;
    *at += width;
    *number = (int)value;
    return true;
}

bool instant_parse(const char *text, int64_t *epoch)
{
    size_t length = strlen(text);
    if (number_signed(text, length, epoch))
        return true;

    struct tm date = { .tm_isdst = -1 };
    if (!fixed(&text, 4, &date.tm_year) || *text++ != '-' || !fixed(&text, 2, &date.tm_mon) ||
        *text++ != '-' || !fixed(&text, 2, &date.tm_mday))
        return false;
    if (*text == 'T' && (text++, !fixed(&text, 2, &date.tm_hour) || *text++ != ':' ||
                                     !fixed(&text, 2, &date.tm_min)))
        return false;
    if (*text == ':' && (text++, !fixed(&text, 2, &date.tm_sec)))
        return false;
    if (*text || date.tm_hour > 23 || date.tm_min > 59 || date.tm_sec > 59)
        return false;
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    struct tm asked = date;
    date.tm_wday = -1; /* still there where mktime fails */
    time_t instant = mktime(&date);
    /* mktime() turns 31 June into 1 July, which cannot be what was meant. */
    if (date.tm_wday < 0 || date.tm_mday != asked.tm_mday || date.tm_mon != asked.tm_mon)
        return false;
    *epoch = instant;
    return true;
}
