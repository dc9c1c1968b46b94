/* SPDX-License-Identifier: MIT */
#include "core/usage/rollup.h"

bool rollup_usage(const struct clock *clock, const struct rollup *rollup, uint64_t since,
                  uint64_t until, uint128 price, struct wide *usage)
{
    uint128 units;
    *usage = (struct wide){ { 0 } };
    if (__builtin_mul_overflow(price, (uint128)rollup->alloc_secs, &units))
        return false;
    uint64_t end = rollup->end < until ? rollup->end : until;
    uint128 weight = clock_weight(clock, rollup->start < since ? since : rollup->start, end);
    /* Below 2^128 x 2^126. */
    struct natural factors[] = { natural_of(units), natural_of(weight) };
    struct natural product = natural_product(&factors[0], &factors[1]);
    natural_divide(&product, rollup->end - rollup->start);
    *usage = wide_of_natural(&product);
    return true;
}
