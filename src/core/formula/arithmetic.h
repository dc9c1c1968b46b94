/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_ARITHMETIC_H
#define FAIRMILL_CORE_FORMULA_ARITHMETIC_H

#include <stdbool.h>

/* A number of a formula, also the value of a name. */
struct formula_value {
    double number;
    bool is_whole; /* Python has an integer there */
};

/* Python's operators on numbers.  Integers are exact up to 2^53; beyond that they are the nearest
 * double.
 *
 * An operation stores its result in its left operand.  It returns NULL, or the reason for which
 * Python raises an exception; the left operand is undefined then. */
typedef const char *operation(struct formula_value *left, const struct formula_value *right);

/* The reasons. */
extern const char number_no_division[]; /* ZeroDivisionError */
extern const char number_no_room[];     /* OverflowError */
extern const char number_no_value[];    /* ValueError, or a complex number */
extern const char number_not_whole[];   /* TypeError: an integer is required */

operation number_add, number_subtract, number_multiply, number_divide, number_divide_floor,
    number_modulo, number_power, number_and, number_or, number_xor, number_shift_left,
    number_shift_right;

/* Stores an integer: `real` must have no fraction.  Fails if it is infinite or not a number. */
const char *number_set_whole(struct formula_value *number, double real);

#endif
