/* SPDX-License-Identifier: MIT */
#include "core/number/fraction.h"

#include <math.h>

/* A quotient is truncated to this many bits before it is rounded to a double.  If bits were lost,
 * the last bit of the quotient is set, so that rounding is correct. */
#define QUOTIENT_BITS 128

static void set_word(mpz_t number, uint64_t word)
{
    mpz_import(number, 1, -1, sizeof word, 0, 0, &word);
}

void fraction_start(struct fraction *fraction, uint64_t number)
{
    mpz_init(fraction->over);
    mpz_init_set_ui(fraction->under, 1);
    set_word(fraction->over, number);
}

void fraction_free(struct fraction *fraction)
{
    mpz_clear(fraction->over);
    mpz_clear(fraction->under);
}

void fraction_set_sum(struct fraction *fraction, const struct wide *sum)
{
    mpz_import(fraction->over, 4, -1, sizeof sum->word[0], 0, 0, sum->word);
    mpz_set_ui(fraction->under, 1);
}

/* Multiplies by 2^exponent. */
static void shift(struct fraction *fraction, int exponent)
{
    if (exponent > 0)
        mpz_mul_2exp(fraction->over, fraction->over, (mp_bitcnt_t)exponent);
    else
        mpz_mul_2exp(fraction->under, fraction->under, (mp_bitcnt_t)-exponent);
}

void fraction_set_floating(struct fraction *fraction, struct floating number)
{
    struct wide mantissa = { { (uint64_t)number.mantissa, (uint64_t)(number.mantissa >> 64) } };
    fraction_set_sum(fraction, &mantissa);
    shift(fraction, number.exponent);
}

void fraction_set_double(struct fraction *fraction, double number)
{
    int exponent;
    mpz_set_d(fraction->over, ldexp(frexp(number, &exponent), 53));
    mpz_set_ui(fraction->under, 1);
    shift(fraction, exponent - 53);
}

static void number_fraction_add(struct fraction *fraction, const struct fraction *more,
                                bool negative)
{
    mpz_t part;
    mpz_init(part);
    mpz_mul(part, more->over, fraction->under);
    mpz_mul(fraction->over, fraction->over, more->under);
    (negative ? mpz_sub : mpz_add)(fraction->over, fraction->over, part);
    mpz_mul(fraction->under, fraction->under, more->under);
    mpz_clear(part);
}

void fraction_add(struct fraction *fraction, const struct fraction *more)
{
    number_fraction_add(fraction, more, false);
}

void fraction_subtract(struct fraction *fraction, const struct fraction *less)
{
    number_fraction_add(fraction, less, true);
}

void fraction_multiply(struct fraction *fraction, const struct fraction *by)
{
    mpz_mul(fraction->over, fraction->over, by->over);
    mpz_mul(fraction->under, fraction->under, by->under);
}

void fraction_divide(struct fraction *fraction, const struct fraction *by)
{
    mpz_mul(fraction->over, fraction->over, by->under);
    mpz_mul(fraction->under, fraction->under, by->over);
    if (mpz_sgn(fraction->under) < 0) {
        mpz_neg(fraction->over, fraction->over);
        mpz_neg(fraction->under, fraction->under);
    }
}

void fraction_scale(struct fraction *fraction, int64_t over, uint64_t under)
{
    mpz_t word;
    mpz_init(word);
    set_word(word, over < 0 ? -(uint64_t)over : (uint64_t)over);
    if (over < 0)
        mpz_neg(word, word);
    mpz_mul(fraction->over, fraction->over, word);
    set_word(word, under);
    mpz_mul(fraction->under, fraction->under, word);
    mpz_clear(word);
}

int fraction_compare(const struct fraction *a, const struct fraction *b)
{
    mpz_t left, right;
    mpz_init(left);
    mpz_init(right);
    mpz_mul(left, a->over, b->under);
    mpz_mul(right, b->over, a->under);
    int order = mpz_cmp(left, right);
    mpz_clear(left);
    mpz_clear(right);
    return (order > 0) - (order < 0);
}

double fraction_to_double(const struct fraction *fraction)
{
    if (!mpz_sgn(fraction->over))
        return 0;
    mpz_t quotient, rest;
    mpz_init(quotient);
    mpz_init(rest);
    /* The quotient has QUOTIENT_BITS or QUOTIENT_BITS + 1 bits. */
    long up = QUOTIENT_BITS -
              ((long)mpz_sizeinbase(fraction->over, 2) - (long)mpz_sizeinbase(fraction->under, 2));
    if (up > 0) {
        mpz_mul_2exp(rest, fraction->over, (mp_bitcnt_t)up);
        mpz_tdiv_qr(quotient, rest, rest, fraction->under);
    } else {
        mpz_mul_2exp(rest, fraction->under, (mp_bitcnt_t)-up);
        mpz_tdiv_qr(quotient, rest, fraction->over, rest);
    }
    bool more = mpz_sgn(rest) != 0;
    long cut = (long)mpz_sizeinbase(quotient, 2) - QUOTIENT_BITS;
    if (cut > 0) {
        more |= mpz_odd_p(quotient) != 0;
        mpz_tdiv_q_2exp(quotient, quotient, (mp_bitcnt_t)cut);
    }
    uint64_t word[2] = { 0, 0 };
    mpz_export(word, NULL, -1, sizeof *word, 0, 0, quotient);
    struct floating number = { (uint128)word[1] << 64 | word[0] | more, (int)(cut - up) };
    mpz_clear(quotient);
    mpz_clear(rest);
    double nearest = floating_to_double(number);
    return mpz_sgn(fraction->over) < 0 ? -nearest : nearest;
}
