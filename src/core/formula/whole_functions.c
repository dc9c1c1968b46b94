/* SPDX-License-Identifier: MIT */
#include "core/formula/whole_functions.h"

#include <limits.h>
#include <math.h>

/* floor, ceil and trunc: an integer of any size. */
static const char *call_part(const struct function *function, struct amount *arguments,
                             size_t count)
{
    (void)count;
    if (arguments->is_whole)
        return NULL;
    if (isnan(arguments->real))
        return amount_no_value;
    if (isinf(arguments->real))
        return amount_no_room;
    amount_set_part(arguments, function->of_one(arguments->real));
    return NULL;
}

static const char *check_whole(const struct amount *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!arguments[i].is_whole)
            return amount_not_whole;
    }
    return NULL;
}

static const char *check_natural(const struct amount *arguments, size_t count)
{
    const char *flaw = check_whole(arguments, count);
    for (size_t i = 0; i < count && !flaw; i++) {
        if (mpz_sgn(arguments[i].whole) < 0)
            flaw = amount_no_value;
    }
    return flaw;
}

static const char *call_gcd(const struct function *function, struct amount *arguments, size_t count)
{
    (void)function;
    const char *flaw = check_whole(arguments, count);
    if (flaw)
        return flaw;
    if (!count)
        amount_set_whole(arguments, 0);
    mpz_abs(arguments->whole, arguments->whole);
    for (size_t i = 1; i < count; i++)
        mpz_gcd(arguments->whole, arguments->whole, arguments[i].whole);
    return NULL;
}

static const char *call_lcm(const struct function *function, struct amount *arguments, size_t count)
{
    (void)function;
    const char *flaw = check_whole(arguments, count);
    if (flaw)
        return flaw;
    if (!count)
        amount_set_whole(arguments, 1);
    mpz_abs(arguments->whole, arguments->whole);
    for (size_t i = 1; i < count && !flaw; i++) {
        mpz_lcm(arguments->whole, arguments->whole, arguments[i].whole);
        flaw = amount_check_length(arguments);
    }
    return flaw;
}

static const char *call_isqrt(const struct function *function, struct amount *arguments,
                              size_t count)
{
    (void)function;
    const char *flaw = check_natural(arguments, count);
    if (!flaw)
        mpz_sqrt(arguments->whole, arguments->whole);
    return flaw;
}

/* n (n - 1) ... of `factors` factors; ends as soon as it is too long. */
static const char *falling(struct amount *amount, unsigned long factors)
{
    mpz_t factor;
    mpz_init_set(factor, amount->whole);
    mpz_set_ui(amount->whole, 1);
    const char *flaw = NULL;
    while (factors-- && !flaw) {
        mpz_mul(amount->whole, amount->whole, factor);
        mpz_sub_ui(factor, factor, 1);
        flaw = amount_check_length(amount);
    }
    mpz_clear(factor);
    return flaw;
}

static const char *call_perm(const struct function *function, struct amount *arguments,
                             size_t count)
{
    (void)function;
    const char *flaw = check_natural(arguments, count);
    if (flaw)
        return flaw;
    if (count == 2 && mpz_cmp(arguments[1].whole, arguments[0].whole) > 0) {
        amount_set_whole(arguments, 0);
        return NULL;
    }
    const mpz_t *factors = &arguments[count - 1].whole;
    return falling(arguments, mpz_fits_ulong_p(*factors) ? mpz_get_ui(*factors) : ULONG_MAX);
}

/* n (n - 1) ... / k!, by the shorter side. */
static const char *choose(struct amount *from, const mpz_t picked)
{
    const char *flaw = NULL;
    mpz_t factor, by;
    mpz_init_set(factor, from->whole);
    mpz_init(by);
    mpz_set_ui(from->whole, 1);
    for (; mpz_cmp(by, picked) < 0 && !flaw; mpz_sub_ui(factor, factor, 1)) {
        mpz_add_ui(by, by, 1);
        mpz_mul(from->whole, from->whole, factor);
        mpz_divexact(from->whole, from->whole, by);
        flaw = amount_check_length(from);
    }
    mpz_clear(factor);
    mpz_clear(by);
    return flaw;
}

static const char *call_comb(const struct function *function, struct amount *arguments,
                             size_t count)
{
    (void)function;
    const char *flaw = check_natural(arguments, count);
    if (flaw)
        return flaw;
    mpz_t picked;
    mpz_init(picked);
    mpz_sub(picked, arguments[0].whole, arguments[1].whole);
    if (mpz_sgn(picked) < 0) {
        amount_set_whole(arguments, 0);
    } else {
        if (mpz_cmp(arguments[1].whole, picked) < 0)
            mpz_set(picked, arguments[1].whole);
        flaw = choose(arguments, picked);
    }
    mpz_clear(picked);
    return flaw;
}

const struct function whole_functions[] = {
    { "ceil", 1, 1, call_part, ceil, NULL },          { "comb", 2, 2, call_comb, NULL, NULL },
    { "factorial", 1, 1, call_perm, NULL, NULL },     { "floor", 1, 1, call_part, floor, NULL },
    { "gcd", 0, FUNCTION_ANY, call_gcd, NULL, NULL }, { "isqrt", 1, 1, call_isqrt, NULL, NULL },
    { "lcm", 0, FUNCTION_ANY, call_lcm, NULL, NULL }, { "perm", 1, 2, call_perm, NULL, NULL },
    { "trunc", 1, 1, call_part, trunc, NULL },        { .name = NULL },
};
