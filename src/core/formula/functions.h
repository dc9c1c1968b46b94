/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_FUNCTIONS_H

#include <stddef.h>

#include "core/formula/arithmetic.h"

/* The functions that a formula may call: Python's abs, bool, float, int, max, min, round and sum,
 * and those of its module `math` that take numbers and return one.  Results are the C
 * library's. */

#define FUNCTION_ANY 255 /* any number of arguments from `least` on */

struct function {
    const char *name;
    unsigned char least, most; /* number of arguments */
    bool takes_items;          /* also a sequence of any numbers, at least `least - 1`: (a, b) */
    /* Replaces the first argument with the result.  Returns a reason, or NULL. */
    const char *(*call)(const struct function *function, struct formula_value *arguments,
                        size_t count);
    double (*of_one)(double); /* for call; NAN: there is no such value */
    double (*of_two)(double, double);
};

/* The function of this name, or NULL. */
const struct function *function_find(const char *name, size_t length);

/* Why a formula cannot have a name of Python's; NULL if it is not known. */
const char *function_refusal(const char *name, size_t length);

/* math's pi, e, tau, inf and nan, and True and False. */
bool constant_find(const char *name, size_t length, struct formula_value *value);

#endif
