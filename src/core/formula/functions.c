/* SPDX-License-Identifier: MIT */
#include "core/formula/functions.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char formula_too_large[] = "the number is too large";
const char formula_no_division[] = "division by zero";
static const char no_value[] = "undefined result";        /* ValueError, or a complex number */
static const char not_whole[] = "an integer is required"; /* TypeError */

#define OF_ONE(name, result)     \
    static double name(double x) \
    {                            \
        return result;           \
    }

#define OF_TWO(name, result)               \
    static double name(double x, double y) \
    {                                      \
        return result;                     \
    }

/* A shift by more bits makes a double overflow, or shifts out all its bits. */
#define MOST_BITS 1074

OF_ONE(function_identity, x)
OF_ONE(function_negate, -x)
OF_ONE(function_is_false, x == 0)
OF_ONE(function_invert, -x - 1)
OF_ONE(function_is_true, x != 0)
OF_ONE(function_is_finite, isfinite(x))
OF_ONE(function_is_infinite, isinf(x) != 0)
OF_ONE(function_is_nan, isnan(x))
OF_TWO(function_bit_and, (double)((int64_t)x &(int64_t)y))
OF_TWO(function_bit_or, (double)((int64_t)x | (int64_t)y))
OF_TWO(function_bit_xor, (double)((int64_t)x ^ (int64_t)y))
OF_TWO(function_shift_left, y < 0 ? NAN : ldexp(x, (int)fmin(y, MOST_BITS)))
OF_TWO(function_shift_right, y < 0 ? NAN : floor(ldexp(x, -(int)fmin(y, MOST_BITS))))
OF_TWO(function_is_less, x < y)
OF_TWO(function_is_greater, x > y)
OF_TWO(function_is_at_most, x <= y)
OF_TWO(function_is_at_least, x >= y)
OF_TWO(function_is_equal, x == y)
OF_TWO(function_is_unequal, x != y)
OF_TWO(function_log_to_base, log(x) / log(y))

/* Python's remainder is exact and has the sign of the divisor. */
static double function_modulo(double x, double y)
{
    double rest = fmod(x, y);
    if (rest == 0)
        return copysign(0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

static double function_floor_divide(double x, double y)
{
    double rest = fmod(x, y), times = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0))
        times -= 1;
    if (times == 0)
        return copysign(0, x / y);
    double below = floor(times);
    return times - below > 0.5 ? below + 1 : below;
}

/* Returns the decimal number with `places` decimals that is nearest to the exact x; ties are
 * rounded to even. */
static double function_round(double x, double places)
{
    char text[400];
    if (!isfinite(x) || (places >= 0 && (fabs(x) >= 0x1p52 || places > 323)))
        return x;
    if (places < 0)
        return copysign(x - remainder(x, pow(10, -places)), x);
    snprintf(text, sizeof text, "%.*f", (int)places, x);
    return strtod(text, NULL);
}

/* ---- table ---- */

/* clang-format off */
#define BINARY(name, result, of, at) { name, RESULT_##result, NULL, function_##of, LEVEL_##at }
#define PREFIX(name, result, of, at) { name, RESULT_##result, function_##of, NULL, LEVEL_##at }
#define ONE(name, result, of) { name, RESULT_##result, of, NULL, LEVEL_NONE }
#define TWO(name, result, of) { name, RESULT_##result, NULL, of, LEVEL_NONE }
#define REAL(name) ONE(#name, REAL, name)

static const struct formula_function functions[] = {
    { "or", .level = LEVEL_OR }, { "and", .level = LEVEL_AND },
    PREFIX("not", WHOLE, is_false, NOT),
    { "in", .level = LEVEL_COMPARISON }, { "not", .level = LEVEL_COMPARISON }, /* not in */
    BINARY("<", WHOLE, is_less, COMPARISON), BINARY("<=", WHOLE, is_at_most, COMPARISON),
    BINARY(">", WHOLE, is_greater, COMPARISON), BINARY(">=", WHOLE, is_at_least, COMPARISON),
    BINARY("==", WHOLE, is_equal, COMPARISON), BINARY("!=", WHOLE, is_unequal, COMPARISON),
    BINARY("|", BITS, bit_or, BIT_OR), BINARY("^", BITS, bit_xor, BIT_XOR),
    BINARY("&", BITS, bit_and, BIT_AND), BINARY("<<", BITS, shift_left, SHIFT),
    BINARY(">>", BITS, shift_right, SHIFT),
    /* formula.c computes these four. */
    { "+", .level = LEVEL_SUM }, { "-", .level = LEVEL_SUM },
    { "*", .level = LEVEL_PRODUCT }, { "/", .level = LEVEL_PRODUCT },
    BINARY("//", QUOTIENT, floor_divide, PRODUCT), BINARY("%", QUOTIENT, modulo, PRODUCT),
    PREFIX("+", ALIKE, identity, SIGN), PREFIX("-", ALIKE, negate, SIGN),
    PREFIX("~", BITS, invert, SIGN), { "**", RESULT_POWER, NULL, pow, LEVEL_POWER },
    REAL(acos), REAL(acosh), REAL(asin), REAL(asinh), REAL(atan), REAL(atanh), REAL(cbrt),
    REAL(cos), REAL(cosh), REAL(erf), REAL(erfc), REAL(exp), REAL(exp2), REAL(expm1), REAL(fabs),
    REAL(lgamma), REAL(log10), REAL(log1p), REAL(log2), REAL(sin), REAL(sinh), REAL(sqrt),
    REAL(tan), REAL(tanh), ONE("float", REAL, function_identity), ONE("gamma", REAL, tgamma),
    { "log", RESULT_REAL, log, function_log_to_base, LEVEL_NONE },
    TWO("atan2", REAL, atan2), TWO("copysign", REAL, copysign), TWO("fmod", REAL, fmod),
    TWO("hypot", REAL, hypot), TWO("pow", REAL, pow), TWO("remainder", REAL, remainder),
    ONE("abs", ALIKE, fabs), ONE("bool", WHOLE, function_is_true), ONE("ceil", WHOLE, ceil),
    ONE("floor", WHOLE, floor), ONE("int", WHOLE, trunc), ONE("trunc", WHOLE, trunc),
    ONE("isfinite", WHOLE, function_is_finite), ONE("isinf", WHOLE, function_is_infinite),
    ONE("isnan", WHOLE, function_is_nan),
    { "round", RESULT_ROUNDED, rint, function_round, LEVEL_NONE },
    TWO("max", CHOSEN, function_is_greater), TWO("min", CHOSEN, function_is_less),
    TWO("sum", SUM, NULL)
};
/* clang-format on */

const struct formula_function *formula_function_find(enum formula_level level, const char *name,
                                                     size_t length)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].level == level && strlen(functions[i].name) == length &&
            !memcmp(functions[i].name, name, length))
            return &functions[i];
    return NULL;
}

/* ---- calls ---- */

/* Returns the result of max, min or sum. */
static struct formula_value formula_function_fold(const struct formula_function *function,
                                                  const struct formula_value *items, size_t count)
{
    struct formula_value value = { 0, true };
    for (size_t i = 0; i < count; i++) {
        if (function->result == RESULT_SUM) {
            value.number += items[i].number;
            value.is_whole &= items[i].is_whole;
        } else if (i == 0 || function->of_two(items[i].number, value.number) != 0) {
            value = items[i];
        }
    }
    return value;
}

/* Returns the reason why Python rejects these arguments, or NULL. */
static const char *formula_function_check_arguments(const struct formula_function *function,
                                                    struct formula_value x, struct formula_value y)
{
    bool is_bits = function->result == RESULT_BITS;
    bool is_log = function->of_two == function_log_to_base;
    if (is_log && (x.number <= 0 || y.number <= 0))
        return no_value;
    if (is_log ? y.number == 1 : function->result == RESULT_QUOTIENT && y.number == 0)
        return formula_no_division;
    if (is_bits ? !x.is_whole || !y.is_whole : function->result == RESULT_ROUNDED && !y.is_whole)
        return not_whole;
    return is_bits && fmax(fabs(x.number), fabs(y.number)) > 0x1p53 ? formula_too_large : NULL;
}

/* Returns the reason why Python rejects an infinite or undefined result, or NULL if Python returns
 * it. */
static const char *formula_function_check_result(const struct formula_function *function, double x,
                                                 double y, struct formula_value result)
{
    bool is_power = function->result == RESULT_POWER;
    if (!result.is_whole && function->result != RESULT_REAL && !is_power)
        return NULL;
    if (isnan(result.number))
        return result.is_whole || !(isnan(x) || isnan(y)) ? no_value : NULL;
    if (!result.is_whole && !(isfinite(x) && isfinite(y)))
        return NULL;
    if (function->of_two ? x == 0 : fabs(x) <= 1 && !result.is_whole) /* a pole */
        return is_power ? formula_no_division : no_value;
    return formula_too_large;
}

const char *formula_function_call(const struct formula_function *function,
                                  const struct formula_value *arguments, size_t count,
                                  struct formula_value *result)
{
    enum function_result kind = function->result;
    if (kind == RESULT_SUM || kind == RESULT_CHOSEN) {
        *result = formula_function_fold(function, arguments, count);
        return result->is_whole && isinf(result->number) ? formula_too_large : NULL;
    }
    /* This value passes all checks of the missing argument. */
    const struct formula_value no_argument = { 2, true };
    struct formula_value x = arguments[0], y = count == 2 ? arguments[1] : no_argument;
    const char *flaw = formula_function_check_arguments(function, x, y);
    if (flaw)
        return flaw;
    bool are_whole = x.is_whole && y.is_whole;
    bool is_whole = kind == RESULT_ROUNDED                            ? count == 1 || x.is_whole
                    : kind == RESULT_POWER                            ? are_whole && y.number >= 0
                    : kind == RESULT_ALIKE || kind == RESULT_QUOTIENT ? are_whole
                                                                      : kind != RESULT_REAL;
    double number = count == 2 ? function->of_two(x.number, y.number) : function->of_one(x.number);
    /* Integers have no negative zero. */
    *result = (struct formula_value){ is_whole ? number + 0.0 : number, is_whole };
    return isfinite(number) ? NULL
                            : formula_function_check_result(function, x.number, y.number, *result);
}
