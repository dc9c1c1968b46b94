/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_NUMBER_H
#define FAIRMILL_UTIL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/*
 * Parse the whole text as one number.  Return false if it is not a number in range.  Leading
 * spaces, a plus sign, octal numbers and separators of a locale are not accepted.
 */
bool number_unsigned(const char *bytes, size_t length, uint64_t *number);
bool number_signed(const char *bytes, size_t length, int64_t *number);
/* Accepts digits with an optional minus sign, point and exponent.  The value must be finite. */
bool number_real(const char *text, double *number);

/*
 * Reads a suffix K, M, G, T or P, in either case, at the end of a number.  Returns the exponent of
 * 1024 that it means, from 1 for K to 5 for P, and reduces `*length` by one.  Returns 0 if there is
 * no suffix.
 */
unsigned binary_suffix(const char *bytes, size_t *length);
/* Adds count * each to `*sum`.  Returns false on overflow. */
bool add_product(uint64_t *sum, uint64_t count, uint64_t each);

/* An exact decimal number, digits * 10^power. */
struct decimal {
    uint64_t digits;
    int power;
};
/*
 * Parses digits with an optional point and exponent, without a sign.  Returns false if there are
 * more than 18 digits from the first to the last nonzero digit, or if the exponent has more than
 * three digits.
 */
bool decimal_parse(const char *bytes, size_t length, struct decimal *decimal);
/*
 * Parses a decimal and multiplies it by `unit`.  Returns false unless the product is a whole number
 * above 0 and below INT64_MAX.
 */
bool amount_parse(const char *bytes, size_t length, uint64_t unit, uint64_t *amount);

/*
 * Parse a duration and store it in seconds.
 *
 * duration_parse() accepts a number followed by s, m, h, d or w, with an optional space before the
 * letter (`90 s`, `2h`).  A number alone is in seconds.
 *
 * time_string_parse() accepts the same durations, but a number alone is in minutes.  It also
 * accepts Slurm's formats `min`, `hr:min:00`, `days-hr:min:00` and `days-hr`.
 */
bool time_string_parse(const char *text, uint64_t *seconds);
bool duration_parse(const char *text, uint64_t *seconds);

/*
 * Parses a duration in OpenPBS's format: HH:MM:SS, MM:SS or seconds.  Each part may have any number
 * of digits.
 */
bool clock_span_parse(const char *bytes, size_t length, uint64_t *seconds);

/*
 * These functions append the same digits as printf(), but in a fraction of the time, because the
 * report of a large site has half a million numbers.
 */

void text_add_integer(struct text *text, int64_t number);
/*
 * Appends the same text as %.*f: `decimals` digits after the point.  A number exactly between two
 * results is rounded to the even digit.
 */
void text_add_fixed(struct text *text, double number, int decimals);
/* A number for people, with a comma before each group of three digits: `1,048,576`. */
struct grouped_number {
    char bytes[32];
};
struct grouped_number number_grouped(int64_t number);
/* Appends the same text as %.17g, from which the same double can be parsed. */
void text_add_exact(struct text *text, double number);

#endif
