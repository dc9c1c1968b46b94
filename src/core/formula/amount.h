/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_AMOUNT_H
#define FAIRMILL_CORE_FORMULA_AMOUNT_H

#include <stdbool.h>

#include "core/number/fraction.h"

/* A number as Python has it: an integer of any size, or a double.  A truth is the integer 1 or 0.
 * Every operation has Python 3's answer, to the last bit, and fails where Python raises an
 * exception: see The Python Language Reference, 6 (Expressions).  The one limit of our own is the
 * size of integers, so that a formula cannot take all memory.
 *
 * What can fail returns why not, or NULL; what it was to change is then anything. */
struct amount {
    bool is_whole;
    double real;
    mpz_t whole;
};

/* Why not.  Tests tell them apart by these words. */
extern const char amount_no_division[]; /* by zero */
extern const char amount_no_room[];     /* the answer, or a number on the way, is too large */
extern const char amount_no_value[];    /* the function is not defined there */
extern const char amount_not_whole[];   /* an integer is wanted */
extern const char amount_too_long[];    /* an integer beyond our limit */

void amount_start(struct amount *amount); /* the integer 0 */
void amount_end(struct amount *amount);
void amount_set(struct amount *amount, const struct amount *other);
void amount_set_real(struct amount *amount, double real);
void amount_set_whole(struct amount *amount, long whole);
/* The integer part of a finite double; */
void amount_set_part(struct amount *amount, double real);
/* an integer of digits of a base; and whether it is within our limit. */
bool amount_set_digits(struct amount *amount, const char *digits, int base);

/* left = left OPERATION right. */
const char *amount_add(struct amount *left, const struct amount *right);
const char *amount_subtract(struct amount *left, const struct amount *right);
const char *amount_multiply(struct amount *left, const struct amount *right);
const char *amount_divide(struct amount *left, const struct amount *right);
const char *amount_divide_floor(struct amount *left, const struct amount *right);
const char *amount_modulo(struct amount *left, const struct amount *right);
const char *amount_power(struct amount *left, const struct amount *right);
void amount_negate(struct amount *amount);

/* The nearest double, ties to even. */
const char *amount_to_double(const struct amount *amount, double *real);
bool amount_is_true(const struct amount *amount);

/* How two stand to each other, exactly: -1, 0 or 1, or 2 where one of them is not a number. */
int amount_compare(const struct amount *left, const struct amount *right);

/* Whether an integer is within our limit. */
const char *amount_check_length(const struct amount *amount);

#endif
