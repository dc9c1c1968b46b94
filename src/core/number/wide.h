/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_NUMBER_WIDE_H
#define FAIRMILL_CORE_NUMBER_WIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Integers wide enough that no sum is ever rounded and no tie is ever luck. */

typedef unsigned __int128 uint128;

/* A signed sum of usage, 256 bits in two's complement, lowest word first. */
struct wide {
    uint64_t word[4];
};

/* sum += charge x weight, or -= where `negative`.  charge is below 2^127 and so is weight; false,
 * with the sum unchanged, where the sum would leave its range. */
bool wide_add_product(struct wide *sum, uint128 charge, uint128 weight, bool negative);
/* sum += more; false, with the sum unchanged, on overflow. */
bool wide_add(struct wide *sum, const struct wide *more);
/* sum -= less, which is not the least number there is; likewise. */
bool wide_subtract(struct wide *sum, const struct wide *less);
/* wide x times, which must fit. */
struct wide wide_times(const struct wide *wide, uint64_t times);
/* The upper 128 bits of a x b. */
uint128 wide_high_product(uint128 a, uint128 b);
/* floor(wide / 2^bits). */
struct wide wide_shifted_down(const struct wide *wide, unsigned bits);
bool wide_is_negative(const struct wide *wide);
bool wide_is_zero(const struct wide *wide);
bool wide_is_equal(const struct wide *a, const struct wide *b);

/* A natural number of up to 768 bits: products of shares and usage, compared and divided
 * exactly.  `length` counts the words up to the highest one that is not zero. */
#define NATURAL_WORDS 12
struct natural {
    unsigned length;
    uint64_t word[NATURAL_WORDS];
};

struct natural natural_of(uint128 number);
/* The sum must not be negative.  This and the next are `inline`: values of this size are slow to
 * pass, and every association needs a few. */
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
/* The product must fit; shares and sums of ours leave room. */
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
/* number x 2^bits; must fit. */
struct natural natural_shifted(const struct natural *number, unsigned bits);
/* a - b, where b is not above a. */
struct natural natural_difference(const struct natural *a, const struct natural *b);
/* How many bits it has; 0 for 0. */
unsigned natural_bits(const struct natural *number);
/* The lowest 128 bits, and the number as a sum, which it must fit. */
uint128 natural_low(const struct natural *number);
struct wide wide_of_natural(const struct natural *number);
/* number = floor(number / divisor). */
void natural_divide(struct natural *number, uint64_t divisor);
int natural_compare(const struct natural *a, const struct natural *b);

/* numerator / denominator as the nearest double, ties to even.  The denominator is not zero and
 * the quotient is within the range of normal doubles.  Being correctly rounded it is monotone:
 * where two quotients differ as doubles, they differ the same way exactly. */
double natural_quotient(const struct natural *numerator, const struct natural *denominator);

/* part / whole of two sums that are not negative, 0 / 0 being 0; rounded likewise. */
double wide_quotient(const struct wide *part, const struct wide *whole);

/* A number of 128 significant bits: mantissa x 2^exponent, the mantissa's top bit
 * set; 0 has mantissa 0. */
struct floating {
    uint128 mantissa;
    int exponent;
};

/* The highest 128 bits of a number, cut. */
struct floating natural_top(const struct natural *number);
/* The product cut to 128 bits; its relative error is below 2^-126. */
struct floating floating_product(struct floating a, struct floating b);
/* The nearest double, ties to even. */
double floating_to_double(struct floating number);
/* floor(number). */
struct natural natural_of_floating(struct floating number);

#endif
