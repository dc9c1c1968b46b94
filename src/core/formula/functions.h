/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Python's operators and functions on numbers. */

/* A number in a formula, or the value of a name. */
struct formula_value {
    double number;
    bool is_whole; /* Python has an integer here */
};

extern const char formula_too_large[];   /* reason of Python's OverflowError */
extern const char formula_no_division[]; /* reason of Python's ZeroDivisionError */

/* Precedence, lowest first. */
enum formula_level {
    LEVEL_NONE,   /* for functions */
    LEVEL_CHOICE, /* x if c else y */
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARISON,
    LEVEL_BIT_OR,
    LEVEL_BIT_XOR,
    LEVEL_BIT_AND,
    LEVEL_SHIFT,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_SIGN,
    LEVEL_POWER,
    LEVEL_ATOM
};

/* The type of the result, and the arguments and results that Python rejects.  Functions with
 * RESULT_REAL or a later constant may take up to a microsecond. */
enum function_result {
    RESULT_WHOLE,    /* an integer */
    RESULT_ALIKE,    /* an integer if the argument is */
    RESULT_BITS,     /* an integer, for integers of at most 2^53 */
    RESULT_CHOSEN,   /* one of the arguments or of the items of a sequence */
    RESULT_SUM,      /* the sum of a sequence */
    RESULT_REAL,     /* a floating-point number; neither infinite nor NAN unless an argument is */
    RESULT_QUOTIENT, /* an integer if both arguments are; the second must not be 0 */
    /* As RESULT_REAL, but an integer if both arguments are and the second is not negative. */
    RESULT_POWER,
    /* An integer if the first argument is an integer or is the only argument. */
    RESULT_ROUNDED
};

/* An operator, or a function. */
struct formula_function {
    const char *name;
    enum function_result result;
    double (*of_one)(double); /* NULL if it does not take one argument; returns NAN if undefined */
    double (*of_two)(double, double); /* for RESULT_CHOSEN: true if the first argument is chosen */
    enum formula_level level;
};

/* Returns the operator of this level with this name, or with LEVEL_NONE the function.  Returns NULL
 * if there is no such operator or function. */
const struct formula_function *formula_function_find(enum formula_level level, const char *name,
                                                     size_t length);

/* Sets *result, which may be one of the arguments.  Returns NULL, or the reason why Python raises
 * an exception. */
const char *formula_function_call(const struct formula_function *function,
                                  const struct formula_value *arguments, size_t count,
                                  struct formula_value *result);

#endif
