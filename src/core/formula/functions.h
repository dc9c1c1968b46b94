/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_FUNCTIONS_H

#include <stddef.h>

#include "core/formula/amount.h"

/* The functions that a formula may call: Python's min, max and abs, and those of its module `math`
 * that take numbers and answer with one (The Python Standard Library, math).  Each answer has the
 * bits of CPython's with the same C library, but gamma's and lgamma's, which are the C library's
 * own here.  hypot is the nearest double. */

#define FUNCTION_ANY 255 /* arguments, at least two */

struct function {
    const char *name;
    unsigned char least, most; /* how many arguments it takes */
    /* The answer goes where the first argument was.  Returns why there is none, or NULL. */
    const char *(*call)(const struct function *function, struct amount *arguments, size_t count);
    /* What call works with, NULL where it does not.  NAN: there is no such value. */
    double (*of_one)(double);
    double (*of_two)(double, double);
};

/* NULL where there is none of this name. */
const struct function *function_find(const char *name, size_t length);

/* Why a name of Python's that a formula cannot have is not there (a sequence, a text, ...); NULL
 * where nothing is known of it. */
const char *function_refusal(const char *name, size_t length);

/* math's pi, e, tau, inf and nan, and True and False. */
bool constant_find(const char *name, size_t length, struct amount *amount);

#endif
