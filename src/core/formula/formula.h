/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FORMULA_H
#define FAIRMILL_CORE_FORMULA_FORMULA_H

#include <stddef.h>

#include "core/formula/functions.h"

struct error;
struct formula;

/*
 * OpenPBS's job_sort_formula: an expression in the part of Python that computes with numbers.
 *
 *     x if c else y   or   and   not   < <= > >= == != in (...)   | ^ & << >> + - * / // %
 *     + - ~   **
 *
 * Precedence and parentheses are Python's.  A formula may contain:
 *
 *   - decimal integers and floating-point numbers
 *   - pi, e, tau, inf, nan, True and False
 *   - the functions of functions.c
 *   - comments
 *   - names, which get their values when the formula is evaluated
 *
 * Numbers are doubles.  Integers are exact up to 2^53, and their results equal CPython's to the
 * last bit.  All other Python is rejected, although OpenPBS passes the whole text to Python.
 */

/* Parses a formula.  Returns NULL if the text is not a formula (ERROR_SETTINGS, with the column,
 * counted from 1).  The caller frees the result with formula_destroy(), which accepts NULL. */
struct formula *formula_create(const char *text, struct error *err);
void formula_destroy(struct formula *formula);

/* The names that need values: each name once, in order of appearance.  The formula owns the text.
 */
size_t formula_name_count(const struct formula *formula);
const char *formula_name(const struct formula *formula, size_t number);

/* Returns the cost of one evaluation: roughly its time in nanoseconds.  The real time may be a few
 * times higher. */
size_t formula_cost(const struct formula *formula);

/* Evaluates the formula.  `values` has one value for each name.  *result may be infinite or NAN.
 * Returns -1 if Python would raise an exception (ERROR_DATA, with the column). */
int formula_evaluate(struct formula *formula, const struct formula_value *values, double *result,
                     struct error *err);

#endif
