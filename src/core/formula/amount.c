/* SPDX-License-Identifier: MIT */
#include "core/formula/amount.h"

#include <float.h>
#include <math.h>

/* More than any formula needs, and little enough to be multiplied at once. */
#define LONGEST_BITS 65536

const char amount_no_division[] = "division by zero";
const char amount_no_room[] = "the number is too large";
const char amount_no_value[] = "there is no such value";
const char amount_not_whole[] = "an integer is wanted here";
const char amount_too_long[] = "an integer has more than 65536 bits";

void amount_start(struct amount *amount)
{
    amount->is_whole = true;
    amount->real = 0;
    mpz_init(amount->whole);
}

void amount_end(struct amount *amount)
{
    mpz_clear(amount->whole);
}

void amount_set(struct amount *amount, const struct amount *other)
{
    amount->is_whole = other->is_whole;
    amount->real = other->real;
    if (other->is_whole)
        mpz_set(amount->whole, other->whole);
}

void amount_set_real(struct amount *amount, double real)
{
    amount->is_whole = false;
    amount->real = real;
}

void amount_set_whole(struct amount *amount, long whole)
{
    amount->is_whole = true;
    mpz_set_si(amount->whole, whole);
}

void amount_set_part(struct amount *amount, double real)
{
    amount->is_whole = true;
    mpz_set_d(amount->whole, real);
}

bool amount_set_digits(struct amount *amount, const char *digits, int base)
{
    amount->is_whole = true;
    mpz_set_str(amount->whole, digits, base);
    return !amount_check_length(amount);
}

const char *amount_check_length(const struct amount *amount)
{
    return amount->is_whole && mpz_sizeinbase(amount->whole, 2) > LONGEST_BITS ? amount_too_long
                                                                               : NULL;
}

/* over / under of two integers, under above 0, as the nearest double; infinite where that is beyond
 * all doubles. */
static double quotient(const mpz_t over, const mpz_t under)
{
    struct fraction fraction;
    fraction_start(&fraction, 0);
    mpz_set(fraction.over, over);
    mpz_set(fraction.under, under);
    double nearest = fraction_to_double(&fraction);
    fraction_free(&fraction);
    return nearest;
}

const char *amount_to_double(const struct amount *amount, double *real)
{
    if (!amount->is_whole) {
        *real = amount->real;
        return NULL;
    }
    if (mpz_sizeinbase(amount->whole, 2) <= DBL_MANT_DIG) {
        *real = mpz_get_d(amount->whole);
        return NULL;
    }
    mpz_t one;
    mpz_init_set_ui(one, 1);
    *real = quotient(amount->whole, one);
    mpz_clear(one);
    return isinf(*real) ? amount_no_room : NULL;
}

bool amount_is_true(const struct amount *amount)
{
    return amount->is_whole ? mpz_sgn(amount->whole) != 0 : amount->real != 0;
}

static int compare_whole(const mpz_t whole, double real)
{
    if (isnan(real))
        return 2;
    if (isinf(real))
        return real > 0 ? -1 : 1;
    int order = mpz_cmp_d(whole, real);
    return (order > 0) - (order < 0);
}

int amount_compare(const struct amount *left, const struct amount *right)
{
    if (left->is_whole && right->is_whole) {
        int order = mpz_cmp(left->whole, right->whole);
        return (order > 0) - (order < 0);
    }
    if (left->is_whole)
        return compare_whole(left->whole, right->real);
    if (right->is_whole) {
        int order = compare_whole(right->whole, left->real);
        return order == 2 ? 2 : -order;
    }
    if (isnan(left->real) || isnan(right->real))
        return 2;
    return (left->real > right->real) - (left->real < right->real);
}

void amount_negate(struct amount *amount)
{
    if (amount->is_whole)
        mpz_neg(amount->whole, amount->whole);
    else
        amount->real = -amount->real;
}

/* Both are integers; else both as doubles in *a and *b, and the answer will be one. */
static bool are_whole(struct amount *left, const struct amount *right)
{
    return left->is_whole && right->is_whole;
}

static const char *to_doubles(struct amount *left, const struct amount *right, double *a, double *b)
{
    const char *flaw = amount_to_double(left, a);
    left->is_whole = false;
    return flaw ? flaw : amount_to_double(right, b);
}

const char *amount_add(struct amount *left, const struct amount *right)
{
    if (are_whole(left, right)) {
        mpz_add(left->whole, left->whole, right->whole);
        return amount_check_length(left);
    }
    double a, b;
    const char *flaw = to_doubles(left, right, &a, &b);
    if (!flaw)
        left->real = a + b;
    return flaw;
}

const char *amount_subtract(struct amount *left, const struct amount *right)
{
    if (are_whole(left, right)) {
        mpz_sub(left->whole, left->whole, right->whole);
        return amount_check_length(left);
    }
    double a, b;
    const char *flaw = to_doubles(left, right, &a, &b);
    if (!flaw)
        left->real = a - b;
    return flaw;
}

const char *amount_multiply(struct amount *left, const struct amount *right)
{
    if (are_whole(left, right)) {
        mpz_mul(left->whole, left->whole, right->whole);
        return amount_check_length(left);
    }
    double a, b;
    const char *flaw = to_doubles(left, right, &a, &b);
    if (!flaw)
        left->real = a * b;
    return flaw;
}

/* Of integers it is their exact quotient, rounded once. */
static const char *divide_whole(struct amount *left, const struct amount *right)
{
    if (!mpz_sgn(right->whole))
        return amount_no_division;
    left->is_whole = false;
    mpz_t under;
    mpz_init(under);
    mpz_abs(under, right->whole);
    left->real = quotient(left->whole, under);
    mpz_clear(under);
    if (mpz_sgn(right->whole) < 0)
        left->real = mpz_sgn(left->whole) ? -left->real : -0.0;
    return isinf(left->real) ? amount_no_room : NULL;
}

const char *amount_divide(struct amount *left, const struct amount *right)
{
    if (are_whole(left, right))
        return divide_whole(left, right);
    double a, b;
    const char *flaw = to_doubles(left, right, &a, &b);
    if (flaw)
        return flaw;
    if (b == 0)
        return amount_no_division;
    left->real = a / b;
    return NULL;
}

/* a = quotient x b + rest, where the rest has b's sign.  The rest is exact; the quotient is the
 * integer nearest to what (a - rest) / b rounds to. */
static const char *part_reals(double a, double b, double *times, double *rest)
{
    if (b == 0)
        return amount_no_division;
    *rest = fmod(a, b);
    *times = (a - *rest) / b;
    if (*rest == 0) {
        *rest = copysign(0, b);
    } else if ((*rest < 0) != (b < 0)) {
        *rest += b;
        *times -= 1;
    }
    if (*times == 0) {
        *times = copysign(0, a / b);
        return NULL;
    }
    double below = floor(*times);
    *times = *times - below > 0.5 ? below + 1 : below;
    return NULL;
}

const char *amount_divide_floor(struct amount *left, const struct amount *right)
{
    if (are_whole(left, right)) {
        if (!mpz_sgn(right->whole))
            return amount_no_division;
        mpz_fdiv_q(left->whole, left->whole, right->whole);
        return NULL;
    }
    double a, b, rest;
    const char *flaw = to_doubles(left, right, &a, &b);
    return flaw ? flaw : part_reals(a, b, &left->real, &rest);
}

const char *amount_modulo(struct amount *left, const struct amount *right)
{
    if (are_whole(left, right)) {
        if (!mpz_sgn(right->whole))
            return amount_no_division;
        mpz_fdiv_r(left->whole, left->whole, right->whole);
        return NULL;
    }
    double a, b, times;
    const char *flaw = to_doubles(left, right, &a, &b);
    return flaw ? flaw : part_reals(a, b, &times, &left->real);
}

/* An exponent that is not negative. */
static const char *power_whole(struct amount *left, const struct amount *right)
{
    /* 0, 1 and -1 have powers of any exponent. */
    if (mpz_cmpabs_ui(left->whole, 1) <= 0) {
        if (!mpz_sgn(right->whole))
            mpz_set_ui(left->whole, 1);
        else if (mpz_sgn(left->whole) < 0 && mpz_even_p(right->whole))
            mpz_set_ui(left->whole, 1);
        return NULL;
    }
    if (mpz_cmp_ui(right->whole, LONGEST_BITS) > 0)
        return amount_too_long;
    unsigned long exponent = mpz_get_ui(right->whole);
    if ((mpz_sizeinbase(left->whole, 2) - 1) * exponent > LONGEST_BITS)
        return amount_too_long;
    mpz_pow_ui(left->whole, left->whole, exponent);
    return amount_check_length(left);
}

const char *amount_power(struct amount *left, const struct amount *right)
{
    if (are_whole(left, right) && mpz_sgn(right->whole) >= 0)
        return power_whole(left, right);
    double a, b;
    const char *flaw = to_doubles(left, right, &a, &b);
    if (flaw)
        return flaw;
    if (a == 0 && b < 0)
        return amount_no_division;
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b))
        return amount_no_value; /* Python has a complex number there */
    left->real = pow(a, b);
    return isinf(left->real) && isfinite(a) && isfinite(b) ? amount_no_room : NULL;
}
