/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_NUMBER_H
#define FAIRMILL_UTIL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* Strict readers: the whole text is one number in range, or the answer is false.  No leading
 * blanks, no plus sign, no octal, no locale. */
bool number_unsigned(const char *bytes, size_t length, uint64_t *number);
bool number_signed(const char *bytes, size_t length, int64_t *number);
/* Digits with an optional point and exponent; finite. */
bool number_real(const char *text, double *number);

/* The suffix K, M, G, T or P at the end of a number, in any case: how many steps of 1024 it stands
 * for, and *length without it.  0: there is none. */
unsigned binary_suffix(const char *bytes, size_t *length);
/* Add a product to a sum; false where that overflows. */
bool add_product(uint64_t *sum, uint64_t count, uint64_t each);

/* A decimal as somebody wrote it, without a rounding: digits x 10^power. */
struct decimal {
    uint64_t digits;
    int power;
};
/* Digits with an optional point and exponent, no sign; at most 18 digits between the first and the
 * last that is not 0, and an exponent of at most three. */
bool decimal_parse(const char *bytes, size_t length, struct decimal *decimal);
/* Reads a decimal times `unit`.  False unless that is a whole number above 0 that fits an int64. */
bool amount_parse(const char *bytes, size_t length, uint64_t unit, uint64_t *amount);

/* A span of time in seconds.
 *
 * duration: a number with s, m, h, d or w behind it (`90 s`, `2h`); a bare number is seconds.
 * time_string: the same, but that a bare number is minutes, and seed 002's `min`, `hr:min:00`,
 * `days-hr:min:00`, `days-hr`. */
bool time_string_parse(const char *text, uint64_t *seconds);
bool duration_parse(const char *text, uint64_t *seconds);

/* A span of time as OpenPBS has it: HH:MM:SS, MM:SS or seconds, of any digits each. */
bool clock_span_parse(const char *bytes, size_t length, uint64_t *seconds);

/* An instant: epoch seconds, or YYYY-MM-DD[THH:MM[:SS]] in the process's time zone; it may be
 * before 1970. */
bool time_parse(const char *text, int64_t *epoch);

/* Numbers as printf() writes them, to the last digit, in a fraction of its time: a table of a large
 * site has half a million. */

void text_add_integer(struct text *text, int64_t number);
/* As %.*f: so many decimals, ties to even. */
void text_add_fixed(struct text *text, double number, int decimals);
/* As %.17g: all that a double is. */
void text_add_exact(struct text *text, double number);

#endif
