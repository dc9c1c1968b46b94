/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_NUMBER_FRACTION_H
#define FAIRMILL_CORE_NUMBER_FRACTION_H

#include <gmp.h>

#include "core/number/wide.h"

/* Exact fractions of integers of any size, for the few numbers that 128 bits cannot distinguish. */
struct fraction {
    mpz_t over, under; /* numerator and denominator; `under` is above 0 */
};

/* Initializes a fraction with a whole number.  The caller frees it with fraction_free(). */
void fraction_start(struct fraction *fraction, uint64_t number);
void fraction_free(struct fraction *fraction);

/* The following functions change `fraction`, which must be initialized.  A sum must not be
 * negative. */
void fraction_set_sum(struct fraction *fraction, const struct wide *sum);
void fraction_set_floating(struct fraction *fraction, struct floating number);
void fraction_set_double(struct fraction *fraction, double number);
void fraction_add(struct fraction *fraction, const struct fraction *more);
void fraction_subtract(struct fraction *fraction, const struct fraction *less);
void fraction_multiply(struct fraction *fraction, const struct fraction *by);
/* `by` must not be 0. */
void fraction_divide(struct fraction *fraction, const struct fraction *by);
/* Multiplies by over / under; `under` must not be 0. */
void fraction_scale(struct fraction *fraction, int64_t over, uint64_t under);

/* Returns -1 if a < b, 0 if a and b are equal, or 1 if a > b. */
int fraction_compare(const struct fraction *a, const struct fraction *b);
/* Returns the nearest double; ties are rounded to even. */
double fraction_to_double(const struct fraction *fraction);

#endif
