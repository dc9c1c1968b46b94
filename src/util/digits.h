/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_DIGITS_H
#define FAIRMILL_UTIL_DIGITS_H

#include <stdint.h>

struct text;

/* Numbers as printf() writes them, to the last digit, in a fraction of its time: a table of a large
 * site has half a million. */

void text_add_integer(struct text *text, int64_t number);
/* As %.*f: so many decimals, ties to even. */
void text_add_fixed(struct text *text, double number, int decimals);
/* As %.17g: all that a double is. */
void text_add_exact(struct text *text, double number);

#endif
