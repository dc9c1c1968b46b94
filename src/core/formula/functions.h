/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Python's operators and functions on numbers. */

/* A number of a formula, also the value of a name. */
struct formula_value {
    double number;
    bool is_whole; /* Python has an integer there */
};

extern const char formula_too_large[];   /* the reason of Python's OverflowError */
extern const char formula_no_division[]; /* and of its ZeroDivisionError */

/* From what binds least to what binds most. */
enum formula_level {
    LEVEL_NONE,   /* of a function */
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

/* What a function returns, and which arguments and results Python rejects.  From RESULT_REAL on it
 * may take a microsecond. */
enum function_result {
    RESULT_WHOLE,    /* an integer */
    RESULT_ALIKE,    /* an integer if the argument is */
    RESULT_BITS,     /* an integer of integers within 2^53 */
    RESULT_CHOSEN,   /* one of the arguments, or of the items of a sequence */
    RESULT_SUM,      /* of a sequence */
    RESULT_REAL,     /* a floating-point number; neither infinite nor NAN unless an argument is */
    RESULT_QUOTIENT, /* an integer if both arguments are; the second must not be 0 */
    RESULT_POWER,    /* as RESULT_REAL; an integer if both are and the second is not negative */
    RESULT_ROUNDED   /* an integer if the first argument is, or if it is the only one */
};

/* An operator, or a function. */
struct formula_function {
    const char *name;
    enum function_result result;
    double (*of_one)(double);         /* NULL: it does not take one argument; NAN: no such value */
    double (*of_two)(double, double); /* of RESULT_CHOSEN: whether it chooses the first one */
    enum formula_level level;
};

/* The operator of this level with this name, or with LEVEL_NONE the function; NULL: there is none.
 */
const struct formula_function *formula_function_find(enum formula_level level, const char *name,
                                                     size_t length);

/* Sets the result, which may be one of the arguments.  Returns NULL, or the reason for which Python
 * raises an exception. */
const char *formula_function_call(const struct formula_function *function,
                                  const struct formula_value *arguments, size_t count,
                                  struct formula_value *result);

#endif
