/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FORMULA_H
#define FAIRMILL_CORE_FORMULA_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct formula;

/* OpenPBS's job_sort_formula: an expression in that part of Python which works with numbers.
 *
 *     x if c else y   or   and   not   < <= > >= == != (chains too)   + -   * / // %   - +   **
 *
 * in Python's order, with parentheses; integers (decimal, 0x, 0o, 0b) and floating numbers, also
 * with underscores; pi, e, tau, inf, nan, True, False; the functions of functions.h; and names,
 * which get their values when the formula is evaluated.  It means what Python 3 says, to the last
 * bit; everything else of Python is refused by its name.  (OpenPBS gives the text to Python as it
 * is, where it may do anything.) */

/* What a name stands for. */
struct formula_value {
    double number;
    bool is_whole; /* it is an integer, so that its quotients and powers are those of integers */
};

/* NULL where the text is no such formula (ERROR_SETTINGS, with the column, from 1). */
struct formula *formula_create(const char *text, struct error *err);
void formula_destroy(struct formula *formula);

/* The names that need values: each once, in order of appearance. */
size_t formula_name_count(const struct formula *formula);
const char *formula_name(const struct formula *formula, size_t number);

/* The answer, where every name has its value; it may be infinite or NAN.  -1 where Python raises an
 * exception (ERROR_DATA, with the column). */
int formula_evaluate(struct formula *formula, const struct formula_value *values, double *answer,
                     struct error *err);

#endif
