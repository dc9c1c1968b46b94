/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_EXTENDED_H
#define FAIRMILL_CORE_EXTENDED_H

#include "core/number/wide.h"

/* The x86 long double, for numbers that are not negative: 64 bits of mantissa, rounded half to
 * even.  slurmctld's ties are ties of this format; here they come out alike on every machine. */
struct extended {
    uint64_t mantissa; /* its top bit is set, or it is 0 and the number with it */
    int exponent;      /* mantissa x 2^exponent; EXTENDED_INFINITE: infinite */
};
#define EXTENDED_INFINITE INT32_MAX

struct extended extended_infinite(void);
struct extended extended_of_double(double number);
struct extended extended_of_floating(struct floating number);
/* The divisor is neither 0 nor infinite. */
struct extended extended_quotient(struct extended dividend, struct extended divisor);
/* Below 0, 0 or above it, as a is less than, equal to or more than b. */
int extended_compare(struct extended a, struct extended b);
double extended_to_double(struct extended number);

#endif
