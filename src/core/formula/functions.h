/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_FUNCTIONS_H

#include <stddef.h>

#include "core/formula/arithmetic.h"

/* The functions that a formula may call: Python's abs, bool, float, int, max, min, round and sum,
 * and those of its module `math` that take numbers and return one.  Results are the C
 * library's. */

#define FUNCTION_ANY 255 /* any number of arguments from `least` on */

/* What a function returns, and what of that Python rejects. */
enum function_result {
    RESULT_REAL,      /* a floating-point number; neither infinite nor NAN unless an argument is */
    RESULT_UNCHECKED, /* any floating-point number */
    RESULT_WHOLE,     /* an integer */
    RESULT_ALIKE,     /* an integer if all arguments are */
    RESULT_CHOSEN,    /* one of the arguments */
    RESULT_ROUNDED    /* an integer if the first argument is, or if it is the only one */
};

struct function {
    const char *name;
    unsigned char least, most; /* number of arguments; most 0: only a sequence */
    bool takes_items;          /* also a sequence of any numbers, at least `least - 1`: (a, b) */
    unsigned char first_whole; /* from this argument on integers are required */
    enum function_result result;
    double (*of_one)(double); /* NAN: there is no such value */
    double (*of_two)(double, double);
    double (*of_several)(const struct formula_value *arguments, size_t count);
};
#define NO_ARGUMENT 255

/* Replaces the first argument with the result.  A call without arguments has a place for that.
 * Returns a reason, or NULL. */
const char *function_call(const struct function *function, struct formula_value *arguments,
                          size_t count);

/* The function of this name, or NULL. */
const struct function *function_find(const char *name, size_t length);

/* Why a formula cannot have a name of Python's; NULL if it is not known. */
const char *function_refusal(const char *name, size_t length);

/* math's pi, e, tau, inf and nan, and True and False. */
bool constant_find(const char *name, size_t length, struct formula_value *value);

#endif
