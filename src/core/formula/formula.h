/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FORMULA_H
#define FAIRMILL_CORE_FORMULA_FORMULA_H

#include <stddef.h>

#include "core/formula/functions.h"

struct error;
struct formula;

/* OpenPBS's job_sort_formula: an expression in the part of Python that computes with numbers.
 *
 *     x if c else y   or   and   not   < <= > >= == != in (...)   | ^ & << >> + - * / // %
 *     + - ~   **
 *
 * with Python's precedence and parentheses; decimal integers and floating-point numbers; pi, e,
 * tau, inf, nan, True, False; the functions of functions.c; comments; and names, which get their
 * values when the formula is evaluated.
 *
 * Numbers are doubles.  Integers are exact up to 2^53, where results are CPython's to the last bit.
 * All other Python is rejected.  (OpenPBS gives the text to Python.) */

/* Returns NULL if the text is not such a formula (ERROR_SETTINGS, with the column, from 1). */
struct formula *formula_create(const char *text, struct error *err);
void formula_destroy(struct formula *formula);

/* The names that need values: each once, in order of appearance. */
size_t formula_name_count(const struct formula *formula);
const char *formula_name(const struct formula *formula, size_t number);

/* How much work one evaluation is: about the number of nanoseconds, at most a few times more. */
size_t formula_cost(const struct formula *formula);

/* Evaluates the formula with a value for each name; the result may be infinite or NAN.  Returns -1
 * if Python raises an exception (ERROR_DATA, with the column). */
int formula_evaluate(struct formula *formula, const struct formula_value *values, double *result,
                     struct error *err);

#endif
