/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_NUMBER_FRACTION_H
#define FAIRMILL_CORE_NUMBER_FRACTION_H

#include <gmp.h>

#include "core/number/wide.h"

/* An exact fraction of integers of any size, for the few numbers that 128 bits do not tell apart.
 */
struct fraction {
    mpz_t over, under; /* under is above 0 */
};

/* A whole number. */
void fraction_start(struct fraction *fraction, uint64_t number);
void fraction_free(struct fraction *fraction);

/* What follows changes the fraction.  A sum is not negative. */
void fraction_set_sum(struct fraction *fraction, const struct wide *sum);
void fraction_set_floating(struct fraction *fraction, struct floating number);
void fraction_set_double(struct fraction *fraction, double number);
void fraction_add(struct fraction *fraction, const struct fraction *more);
void fraction_subtract(struct fraction *fraction, const struct fraction *less);
void fraction_multiply(struct fraction *fraction, const struct fraction *by);
/* By what is not 0. */
void fraction_divide(struct fraction *fraction, const struct fraction *by);
/* x over / under of two integers; under is not 0. */
void fraction_scale(struct fraction *fraction, int64_t over, uint64_t under);

/* Below 0, 0 or above it, as a is less than, equal to or more than b. */
int fraction_compare(const struct fraction *a, const struct fraction *b);
/* The nearest double, ties to even. */
double fraction_to_double(const struct fraction *fraction);

#endif
