/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_FUNCTIONS_H

#include "core/formula/function.h"

/* The functions that a formula may call: Python's min, max and abs, and those of its module `math`
 * that take numbers and answer with one (The Python Standard Library, math).  Each answer has the
 * bits of CPython's with the same C library, but gamma's and lgamma's, which are the C library's
 * own here.  hypot is the nearest double. */

/* The function of this name, or NULL. */
const struct function *function_find(const char *name, size_t length);

/* Why a name of Python's that a formula cannot have is not there (a sequence, a text, ...); NULL
 * where nothing is known of it. */
const char *function_refusal(const char *name, size_t length);

/* math's pi, e, tau, inf and nan, and True and False. */
bool constant_find(const char *name, size_t length, struct amount *amount);

#endif
