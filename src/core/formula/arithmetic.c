/* SPDX-License-Identifier: MIT */
#include "core/formula/arithmetic.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

const char number_no_division[] = "division by zero";
const char number_no_room[] = "the number is too large";
const char number_no_value[] = "there is no such value";
const char number_not_whole[] = "an integer is wanted here";

const char *number_set_whole(struct formula_value *number, double real)
{
    if (isnan(real))
        return number_no_value;
    if (isinf(real))
        return number_no_room;
    /* An integer has no negative zero. */
    *number = (struct formula_value){ real + 0.0, true };
    return NULL;
}

/* Stores the result of an operation whose result is an integer if both operands are. */
static const char *finish(struct formula_value *left, const struct formula_value *right,
                          double result)
{
    if (left->is_whole && right->is_whole)
        return number_set_whole(left, result);
    *left = (struct formula_value){ result, false };
    return NULL;
}

const char *number_add(struct formula_value *left, const struct formula_value *right)
{
    return finish(left, right, left->number + right->number);
}

const char *number_subtract(struct formula_value *left, const struct formula_value *right)
{
    return finish(left, right, left->number - right->number);
}

const char *number_multiply(struct formula_value *left, const struct formula_value *right)
{
    return finish(left, right, left->number * right->number);
}

const char *number_divide(struct formula_value *left, const struct formula_value *right)
{
    if (right->number == 0)
        return number_no_division;
    *left = (struct formula_value){ left->number / right->number, false };
    return NULL;
}

/* Python's rest has the sign of the divisor, and is exact. */
static double rest_of(double a, double b)
{
    double rest = fmod(a, b);
    if (rest == 0)
        return copysign(0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

const char *number_divide_floor(struct formula_value *left, const struct formula_value *right)
{
    double a = left->number, b = right->number;
    if (b == 0)
        return number_no_division;
    double rest = fmod(a, b), times = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0))
        times -= 1;
    if (times == 0)
        return finish(left, right, copysign(0, a / b));
    double below = floor(times);
    return finish(left, right, times - below > 0.5 ? below + 1 : below);
}

const char *number_modulo(struct formula_value *left, const struct formula_value *right)
{
    if (right->number == 0)
        return number_no_division;
    return finish(left, right, rest_of(left->number, right->number));
}

const char *number_power(struct formula_value *left, const struct formula_value *right)
{
    double a = left->number, b = right->number, result = pow(a, b);
    bool is_finite = isfinite(a) && isfinite(b);
    if (a == 0 && b < 0 && is_finite)
        return number_no_division;
    if (a < 0 && is_finite && b != floor(b))
        return number_no_value;
    if (isinf(result) && is_finite)
        return number_no_room;
    if (b < 0) /* a negative power of an integer is a fraction */
        left->is_whole = false;
    return finish(left, right, result);
}

/* ---- bits ---- */

static const char *combine(struct formula_value *left, const struct formula_value *right, char sign)
{
    if (!left->is_whole || !right->is_whole)
        return number_not_whole;
    if (fabs(left->number) >= 0x1p63 || fabs(right->number) >= 0x1p63)
        return number_no_room;
    int64_t one = (int64_t)left->number, other = (int64_t)right->number;
    return number_set_whole(left, (double)(sign == '&'   ? one & other
                                           : sign == '|' ? one | other
                                                         : one ^ other));
}

const char *number_and(struct formula_value *left, const struct formula_value *right)
{
    return combine(left, right, '&');
}

const char *number_or(struct formula_value *left, const struct formula_value *right)
{
    return combine(left, right, '|');
}

const char *number_xor(struct formula_value *left, const struct formula_value *right)
{
    return combine(left, right, '^');
}

/* Beyond this number of bits a double overflows, or nothing is left of it. */
#define MOST_BITS 1074

static const char *shift(struct formula_value *left, const struct formula_value *right, int sign)
{
    if (!left->is_whole || !right->is_whole)
        return number_not_whole;
    if (right->number < 0)
        return number_no_value;
    int count = sign * (int)fmin(right->number, MOST_BITS);
    return number_set_whole(left, floor(ldexp(left->number, count)));
}

const char *number_shift_left(struct formula_value *left, const struct formula_value *right)
{
    return shift(left, right, 1);
}

const char *number_shift_right(struct formula_value *left, const struct formula_value *right)
{
    return shift(left, right, -1);
}
