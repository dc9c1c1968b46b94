/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_NUMBER_WIDE_H
#define FAIRMILL_CORE_NUMBER_WIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Integers wide enough that sums are never rounded and ties are always exact. */

typedef unsigned __int128 uint128;
typedef __int128 int128;

/* A signed sum of usage: 256 bits in two's complement, lowest word first. */
struct wide {
    uint64_t word[4];
};

/* sum += charge * weight, or sum -= charge * weight if `negative`.  `charge` and `weight` must be
 * below 2^127.  Returns false and leaves the sum unchanged on overflow. */
bool wide_add_product(struct wide *sum, uint128 charge, uint128 weight, bool negative);
/* sum += more.  Returns false and leaves the sum unchanged on overflow. */
bool wide_add(struct wide *sum, const struct wide *more);
/* sum -= less.  Returns false and leaves the sum unchanged on overflow. */
bool wide_subtract(struct wide *sum, const struct wide *less);
/* Returns wide * times.  The product must fit. */
struct wide wide_times(const struct wide *wide, uint64_t times);
/* Returns the upper 128 bits of a * b. */
uint128 wide_high_product(uint128 a, uint128 b);
/* Returns floor(wide / 2^bits). */
struct wide wide_shifted_down(const struct wide *wide, unsigned bits);
bool wide_is_negative(const struct wide *wide);
bool wide_is_zero(const struct wide *wide);
bool wide_is_equal(const struct wide *a, const struct wide *b);

/* A natural number of up to 768 bits, to compare and divide products of shares and usage exactly.
 * `length` is the number of words up to the highest word that is not 0.  Higher words are
 * undefined. */
#define NATURAL_WORDS 12
struct natural {
    unsigned length;
    uint64_t word[NATURAL_WORDS];
};

struct natural natural_of(uint128 number);
/* The sum must not be negative.  This function and the next are `inline` because values of this
 * size are slow to pass and each association needs several. */
static inline struct natural natural_of_wide(const struct wide *wide)
{
    struct natural number;
    number.length = 0;
    for (unsigned i = 0; i < 4; i++) {
        number.word[i] = wide->word[i];
        if (wide->word[i])
            number.length = i + 1;
    }
    return number;
}
/* The product must fit.  Products of fairmill's shares and sums always fit. */
static inline struct natural natural_times(const struct natural *a, uint64_t b)
{
    struct natural product;
    uint64_t carry = 0;
    product.length = b ? a->length : 0;
    for (unsigned i = 0; i < product.length; i++) {
        uint128 part = (uint128)a->word[i] * b + carry;
        product.word[i] = (uint64_t)part;
        carry = (uint64_t)(part >> 64);
    }
    if (carry)
        product.word[product.length++] = carry;
    return product;
}
struct natural natural_product(const struct natural *a, const struct natural *b);
/* Returns number * 2^bits.  The product must fit. */
struct natural natural_shifted(const struct natural *number, unsigned bits);
/* Returns a - b; b must not be above a. */
struct natural natural_difference(const struct natural *a, const struct natural *b);
/* Returns the number of bits, or 0 for the number 0. */
unsigned natural_bits(const struct natural *number);
/* Returns the lowest 128 bits. */
uint128 natural_low(const struct natural *number);
/* Returns the number as a sum.  The number must be below 2^255. */
struct wide wide_of_natural(const struct natural *number);
/* number = floor(number / divisor) */
void natural_divide(struct natural *number, uint64_t divisor);
int natural_compare(const struct natural *a, const struct natural *b);

/* Returns the numerator divided by the denominator, as the nearest double.  Ties are rounded to
 * even.  The denominator must not be 0, and the quotient must be within the range of normal
 * doubles.  Correct rounding makes the function monotone: if two results differ, the exact
 * quotients differ in the same direction. */
double natural_quotient(const struct natural *numerator, const struct natural *denominator);

/* Returns `part` divided by `whole`, rounded as by natural_quotient().  The sums must not be
 * negative.  Returns 0 if either sum is 0. */
double wide_quotient(const struct wide *part, const struct wide *whole);

/* A number of 128 significant bits: mantissa * 2^exponent.  The highest bit of the mantissa is set,
 * except for 0, which has mantissa 0. */
struct floating {
    uint128 mantissa;
    int exponent;
};

/* Returns the highest 128 bits of a number, truncated. */
struct floating natural_top(const struct natural *number);
/* Returns the product truncated to 128 bits.  The relative error is below 2^-126. */
struct floating floating_product(struct floating a, struct floating b);
/* Returns the nearest double; ties are rounded to even. */
double floating_to_double(struct floating number);
/* Returns floor(number). */
struct natural natural_of_floating(struct floating number);

#endif
