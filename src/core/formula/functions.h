/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Python's operators and functions on numbers.  Integers are exact up to 2^53; beyond that they are
 * the nearest double.  Other results are the C library's. */

/* A number of a formula, also the value of a name. */
struct formula_value {
    double number;
    bool is_whole; /* Python has an integer there */
};

extern const char formula_too_large[]; /* the reason of Python's OverflowError */

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

/* What a comparison may find, as bits; NEITHER: one of the two is not a number. */
enum { LESS = 1, EQUAL = 2, MORE = 4, NEITHER = 8 };

/* What a function returns, and what of that Python rejects. */
enum function_result {
    RESULT_REAL,    /* a floating-point number; neither infinite nor NAN unless an argument is */
    RESULT_FREE,    /* any floating-point number */
    RESULT_WHOLE,   /* an integer */
    RESULT_ALIKE,   /* an integer if all arguments are */
    RESULT_CHOSEN,  /* one of the arguments */
    RESULT_ROUNDED, /* an integer if the first argument is, or if it is the only one */
    RESULT_POWER    /* as RESULT_REAL; an integer if both are and the second is not negative */
};

/* An operator, or one of the functions: Python's abs, bool, float, int, max, min, round and sum,
 * and those of its module `math` that take numbers and return one. */
struct function {
    const char *name;
    unsigned char least, most;        /* number of arguments; most 0: a sequence */
    double (*of_one)(double);         /* NAN: there is no such value */
    double (*of_two)(double, double); /* of any number: one argument after another */
    enum formula_level level;         /* of an operator */
    enum function_result result;
    unsigned char whole_from; /* integers are required: 1 from the first argument on */
    bool takes_items;         /* also a sequence of any numbers, at least `least - 1`: (a, b) */
    bool divides;             /* the second argument must not be 0 */
    bool is_slow;             /* of an operator: may take a microsecond, as a function */
    unsigned holds;           /* of a comparison: what it may find */
};
#define FUNCTION_ANY 255 /* any number of arguments from `least` on */

/* The operator of this level with this sign, or with LEVEL_NONE the function; NULL: there is none.
 */
const struct function *function_find(enum formula_level level, const char *name, size_t length);

/* Sets the result, which may be one of the arguments.  Returns NULL, or the reason for which Python
 * raises an exception. */
const char *function_call(const struct function *function, const struct formula_value *arguments,
                          size_t count, struct formula_value *result);

/* math's pi, e, tau, inf and nan, and True and False. */
bool constant_find(const char *name, size_t length, struct formula_value *value);

#endif
