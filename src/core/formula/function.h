/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FUNCTION_H
#define FAIRMILL_CORE_FORMULA_FUNCTION_H

#include <stddef.h>

#include "core/formula/amount.h"

/* A function that a formula may call; tables of them are ended by one without a name. */

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

#endif
