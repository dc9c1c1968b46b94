/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_CHARGE_RATE_H
#define FAIRMILL_CORE_USAGE_CHARGE_RATE_H

#include "core/number/wide.h"
#include "util/number.h"

/*
 * A charge rate is the number of units charged per second for one TRES, for example for one CPU.
 * With factor 1 it is UNITS_PER_TRES (decay_table.h).  If a rate or a charge is RATE_TOO_LARGE or
 * more, nothing is charged.
 */
#define RATE_TOO_LARGE ((uint128)1 << 104)

/*
 * Returns the charge rate for the product of `count` factors, divided by 2^halvings and rounded
 * once, half to even.  `count` is at most RATE_FACTORS, `halvings` at most 50, and each factor has
 * at most the 18 digits that decimal_parse() accepts.
 */
#define RATE_FACTORS 4
uint128 rate_of_product(const struct decimal *factors, size_t count, unsigned halvings);

/*
 * Returns the decimal with the fewest digits that parses as this double, or 1 if it is negative or
 * not finite.
 */
struct decimal decimal_of_factor(double factor);
/* Returns the double nearest to a decimal. */
double decimal_nearest(const struct decimal *decimal);
/* Returns the charge rate for one factor, as rate_of_product() does.  Uses decimal_of_factor(), so
 * a negative or infinite factor counts as 1. */
uint128 rate_of_factor(double factor);

#endif
