/* SPDX-License-Identifier: MIT */
#include "core/usage/rollup.h"

static struct natural natural_of_double_word(uint128 number)
{
    struct natural natural = natural_of((uint64_t)number);
    natural.word[0] = (uint64_t)number;
    natural.word[1] = (uint64_t)(number >> 64);
    natural.length = natural.word[1] ? 2 : natural.word[0] ? 1 : 0;
    return natural;
}

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
    struct natural factors[] = { natural_of_double_word(units), natural_of_double_word(weight) };
    struct natural product = natural_product(&factors[0], &factors[1]);
    natural_divide(&product, rollup->end - rollup->start);
    for (unsigned i = 0; i < product.length; i++)
        usage->word[i] = product.word[i];
    return true;
}
