/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_CHARGE_RATE_H
#define FAIRMILL_CORE_USAGE_CHARGE_RATE_H

#include "core/number/wide.h"
#include "util/number.h"

/* A price: what one TRES costs each second, in units (UNITS_PER_TRES).  At RATE_TOO_LARGE or
 * above, which is also what a charge must stay below, nothing is charged. */
#define RATE_TOO_LARGE ((uint128)1 << 104)

/* The price at the product of these factors, of which there are at most RATE_FACTORS with the 18
 * digits that decimal_parse() takes, divided by 2^halvings (at most 50): rounded once, half to
 * even. */
#define RATE_FACTORS 4
uint128 rate_of_product(const struct decimal *factors, size_t count, unsigned halvings);

/* The decimal with the fewest digits that reads as this double; 1 for one that is negative or no
 * number. */
struct decimal decimal_of_factor(double factor);
/* The double nearest to a decimal. */
double decimal_nearest(const struct decimal *decimal);
/* The price at this one factor. */
uint128 rate_of_factor(double factor);

#endif
