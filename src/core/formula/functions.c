/* SPDX-License-Identifier: MIT */
#include "core/formula/functions.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char formula_too_large[] = "the number is too large";  /* OverflowError */
static const char no_division[] = "division by zero";        /* ZeroDivisionError */
static const char no_value[] = "there is no such value";     /* ValueError, a complex number */
static const char not_whole[] = "an integer is wanted here"; /* TypeError */

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

/* ---- operators ---- */

/* Beyond this number of bits a double overflows, or nothing is left of it. */
#define MOST_BITS 1074

OF_ONE(identity, x)
OF_ONE(negative_of, -x)
OF_ONE(inverse_of, -x - 1)
OF_ONE(is_true, x != 0)
OF_ONE(is_false, x == 0)
OF_TWO(formula_function_sum_of, x + y)
OF_TWO(difference_of, x - y)
OF_TWO(product_of, x *y)
OF_TWO(formula_function_quotient_of, x / y)
OF_TWO(both_of, (double)((int64_t)x &(int64_t)y))
OF_TWO(either_of, (double)((int64_t)x | (int64_t)y))
OF_TWO(one_of, (double)((int64_t)x ^ (int64_t)y))
OF_TWO(formula_function_left_of, y < 0 ? NAN : ldexp(x, (int)fmin(y, MOST_BITS)))
OF_TWO(right_of, y < 0 ? NAN : floor(ldexp(x, -(int)fmin(y, MOST_BITS))))

/* Python's rest has the sign of the divisor, and is exact. */
static double rest_of(double x, double y)
{
    double rest = fmod(x, y);
    if (rest == 0)
        return copysign(0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

static double floor_of(double x, double y)
{
    double rest = fmod(x, y), times = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0))
        times -= 1;
    if (times == 0)
        return copysign(0, x / y);
    double below = floor(times);
    return times - below > 0.5 ? below + 1 : below;
}

/* ---- functions ---- */

static bool is_pole(double x)
{
    return x <= 0 && x == floor(x) && isfinite(x);
}

OF_ONE(gamma_of, is_pole(x) ? NAN : tgamma(x))
OF_ONE(log_gamma_of, is_pole(x) ? NAN : lgamma_r(x, &(int){ 0 }))
OF_ONE(log_of, x <= 0 ? NAN : log(x))
OF_ONE(log10_of, x <= 0 ? NAN : log10(x))
OF_ONE(log2_of, x <= 0 ? NAN : log2(x))
OF_ONE(log1p_of, x == -1 ? NAN : log1p(x))
OF_ONE(atanh_of, fabs(x) == 1 ? NAN : atanh(x))
OF_ONE(degrees_of, x *(180 / M_PI))
OF_ONE(radians_of, x *(M_PI / 180))
OF_ONE(is_finite, isfinite(x))
OF_ONE(is_infinite, isinf(x) != 0)
OF_ONE(is_no_number, isnan(x))
OF_ONE(square_root_of, x < 0 ? NAN : floor(sqrt(x)))
OF_TWO(log_to_base, log_of(x) / log_of(y))
OF_TWO(lesser_of, y < x ? y : x)
OF_TWO(greater_of, y > x ? y : x)
OF_TWO(load_exponent, ldexp(x, (int)fmax(fmin(y, INT_MAX), INT_MIN)))

static double factorial_of(double x)
{
    double product = 1;
    for (double factor = 2; factor <= x && isfinite(product); factor++)
        product *= factor;
    return x < 0 ? NAN : product;
}

/* As near as a billionth of the larger one. */
static double is_close(double x, double y)
{
    double apart = fabs(y - x);
    return x == y ||
           (!isinf(x) && !isinf(y) && (apart <= fabs(1e-9 * y) || apart <= fabs(1e-9 * x)));
}

static double formula_function_divisor_of(double x, double y)
{
    while (y != 0) {
        double rest = fmod(x, y);
        x = y;
        y = rest;
    }
    return fabs(x);
}

static double multiple_of(double x, double y)
{
    if (isinf(x) || y == 0)
        return isinf(x) ? x : 0;
    double multiple = fabs(x / formula_function_divisor_of(x, y) * y);
    return multiple > 0x1p53 ? INFINITY : multiple;
}

/* Half goes to the even neighbor. */
static double round_left(double x, int places)
{
    if (places > 22) /* 10^23 and more are no doubles, and larger than what formulas compute */
        return fabs(x) < 1e22 ? copysign(0, x) : x;
    double unit = pow(10, places), rest = fmod(x, unit), base = x - rest;
    double twice = 2 * fabs(rest);
    bool is_odd = fmod(base / unit, 2) != 0;
    return copysign(twice > unit || (twice == unit && is_odd) ? base + copysign(unit, x) : base, x);
}

/* The decimal with so many places that is nearest to the exact x. */
static double round_right(double x, int places)
{
    char text[400];
    if (fabs(x) >= 0x1p52 || places > 323)
        return x;
    snprintf(text, sizeof text, "%.*f", places, x);
    return strtod(text, NULL);
}

static double round_to(double x, double places)
{
    int number = (int)fmax(fmin(places, 400), -400);
    return !isfinite(x) ? x : number < 0 ? round_left(x, -number) : round_right(x, number);
}

/* ---- calls ---- */

typedef const struct formula_value values;

static bool is_whole(const struct function *function, values *arguments, size_t count,
                     double result)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        if (function->result == RESULT_CHOSEN && arguments[i].number == result)
            return arguments[i].is_whole;
        all &= arguments[i].is_whole;
    }
    return function->result == RESULT_WHOLE || (function->result == RESULT_ALIKE && all) ||
           (function->result == RESULT_ROUNDED && (count == 1 || arguments->is_whole)) ||
           /* A negative power of an integer is a fraction. */
           (function->result == RESULT_POWER && all && arguments[1].number >= 0);
}

static double formula_function_compute(const struct function *function, values *arguments,
                                       size_t count)
{
    double first = count ? arguments->number : 0;
    if (function->most && function->most != FUNCTION_ANY)
        return count == 2 ? function->of_two(first, arguments[1].number) : function->of_one(first);
    double result = function->result == RESULT_CHOSEN ? first : function->of_two == multiple_of;
    for (size_t i = 0; i < count; i++)
        result = function->of_two(result, arguments[i].number);
    return result;
}

/* Why these arguments cannot have a result; NULL: they may have one. */
static const char *formula_function_check_arguments(const struct function *function,
                                                    values *arguments, size_t count)
{
    size_t first = function->whole_from ? function->whole_from - 1U : count;
    for (size_t i = first; i < count; i++) {
        if (!arguments[i].is_whole)
            return not_whole;
        if (fabs(arguments[i].number) > 0x1p53)
            return formula_too_large;
    }
    if (function->divides && arguments[1].number == 0)
        return no_division;
    if (function->of_two == log_to_base && count == 2 && arguments[1].number == 1)
        return arguments[0].number <= 0 ? no_value : no_division;
    return NULL;
}

/* Why Python has no such result of them; NULL: it has. */
static const char *check_result(const struct function *function, values *arguments, size_t count,
                                struct formula_value result)
{
    bool finite = true, number = true, is_power = function->result == RESULT_POWER;
    for (size_t i = 0; i < count; i++) {
        finite &= isfinite(arguments[i].number) != 0;
        number &= !isnan(arguments[i].number);
    }
    bool is_real = function->result == RESULT_REAL || is_power;
    if (isnan(result.number) && (result.is_whole || (is_real && number)))
        return no_value;
    if (isinf(result.number) && is_real && finite && count == 2 && arguments->number == 0)
        return is_power ? no_division : no_value;
    if (isinf(result.number) && (result.is_whole || (is_real && finite)))
        return formula_too_large;
    return NULL;
}

const char *function_call(const struct function *function, const struct formula_value *arguments,
                          size_t count, struct formula_value *result)
{
    const char *flaw = formula_function_check_arguments(function, arguments, count);
    if (flaw)
        return flaw;
    struct formula_value value = { formula_function_compute(function, arguments, count), false };
    value.is_whole = is_whole(function, arguments, count, value.number);
    if (value.is_whole)
        value.number += 0.0; /* an integer has no negative zero */
    if (!isfinite(value.number))
        flaw = check_result(function, arguments, count, value);
    *result = value;
    return flaw;
}

/* ---- their names ---- */

/* clang-format off */
#define REAL(name) { #name, 1, 1, .of_one = name }
#define PAIR(name) { #name, 2, 2, .of_two = name }
/* clang-format on */
#define BINARY(sign, at, of, what) \
    sign, 2, 2, .of_two = of, .level = LEVEL_##at, .result = RESULT_##what

static const struct function functions[] = {
    /* Signs, and operators between two operands. */
    { "or", .level = LEVEL_OR },
    { "and", .level = LEVEL_AND },
    { "not", 1, 1, .of_one = is_false, .level = LEVEL_NOT, .result = RESULT_WHOLE },
    { "in", .level = LEVEL_COMPARISON },
    { "not", .level = LEVEL_COMPARISON }, /* not in */
    { "<", .level = LEVEL_COMPARISON, .holds = LESS },
    { "<=", .level = LEVEL_COMPARISON, .holds = LESS | EQUAL },
    { "==", .level = LEVEL_COMPARISON, .holds = EQUAL },
    { ">", .level = LEVEL_COMPARISON, .holds = MORE },
    { ">=", .level = LEVEL_COMPARISON, .holds = MORE | EQUAL },
    { "!=", .level = LEVEL_COMPARISON, .holds = LESS | MORE | NEITHER },
    { BINARY("|", BIT_OR, either_of, WHOLE), .whole_from = 1 },
    { BINARY("^", BIT_XOR, one_of, WHOLE), .whole_from = 1 },
    { BINARY("&", BIT_AND, both_of, WHOLE), .whole_from = 1 },
    { BINARY("<<", SHIFT, formula_function_left_of, WHOLE), .whole_from = 1 },
    { BINARY(">>", SHIFT, right_of, WHOLE), .whole_from = 1 },
    { BINARY("+", SUM, formula_function_sum_of, ALIKE) },
    { BINARY("-", SUM, difference_of, ALIKE) },
    { BINARY("*", PRODUCT, product_of, ALIKE) },
    { BINARY("/", PRODUCT, formula_function_quotient_of, FREE), .divides = true },
    { BINARY("//", PRODUCT, floor_of, ALIKE), .is_slow = true, .divides = true },
    { BINARY("%", PRODUCT, rest_of, ALIKE), .is_slow = true, .divides = true },
    { "+", 1, 1, .of_one = identity, .level = LEVEL_SIGN, .result = RESULT_ALIKE },
    { "-", 1, 1, .of_one = negative_of, .level = LEVEL_SIGN, .result = RESULT_ALIKE },
    { "~", 1, 1, .of_one = inverse_of, .level = LEVEL_SIGN, .result = RESULT_WHOLE,
      .whole_from = 1 },
    { BINARY("**", POWER, pow, POWER), .is_slow = true },
    /* Functions of real numbers. */
    /* clang-format off */
    REAL(acos), REAL(acosh), REAL(asin), REAL(asinh), REAL(atan), REAL(cbrt), REAL(cos), REAL(cosh),
    REAL(erf), REAL(erfc), REAL(exp), REAL(exp2), REAL(expm1), REAL(fabs), REAL(sin), REAL(sinh),
    REAL(sqrt), REAL(tan), REAL(tanh), PAIR(atan2), PAIR(copysign), PAIR(fmod), PAIR(pow),
    PAIR(remainder),
    /* clang-format on */
    { "atanh", 1, 1, .of_one = atanh_of },
    { "gamma", 1, 1, .of_one = gamma_of },
    { "lgamma", 1, 1, .of_one = log_gamma_of },
    { "log10", 1, 1, .of_one = log10_of },
    { "log1p", 1, 1, .of_one = log1p_of },
    { "log2", 1, 1, .of_one = log2_of },
    { "log", 1, 2, .of_one = log_of, .of_two = log_to_base },
    { "ldexp", 2, 2, .of_two = load_exponent, .whole_from = 2 },
    { "degrees", 1, 1, .of_one = degrees_of, .result = RESULT_FREE },
    { "radians", 1, 1, .of_one = radians_of, .result = RESULT_FREE },
    { "float", 0, 1, .of_one = identity, .result = RESULT_FREE },
    { "hypot", 0, FUNCTION_ANY, .of_two = hypot, .result = RESULT_FREE },
    /* Functions with integers. */
    { "abs", 1, 1, .of_one = fabs, .result = RESULT_ALIKE },
    { "bool", 0, 1, .of_one = is_true, .result = RESULT_WHOLE },
    { "ceil", 1, 1, .of_one = ceil, .result = RESULT_WHOLE },
    { "factorial", 1, 1, .of_one = factorial_of, .result = RESULT_WHOLE, .whole_from = 1 },
    { "floor", 1, 1, .of_one = floor, .result = RESULT_WHOLE },
    { "gcd", 0, FUNCTION_ANY, .of_two = formula_function_divisor_of, .result = RESULT_WHOLE,
      .whole_from = 1 },
    { "int", 0, 1, .of_one = trunc, .result = RESULT_WHOLE },
    { "isclose", 2, 2, .of_two = is_close, .result = RESULT_WHOLE },
    { "isfinite", 1, 1, .of_one = is_finite, .result = RESULT_WHOLE },
    { "isinf", 1, 1, .of_one = is_infinite, .result = RESULT_WHOLE },
    { "isnan", 1, 1, .of_one = is_no_number, .result = RESULT_WHOLE },
    { "isqrt", 1, 1, .of_one = square_root_of, .result = RESULT_WHOLE, .whole_from = 1 },
    { "lcm", 0, FUNCTION_ANY, .of_two = multiple_of, .result = RESULT_WHOLE, .whole_from = 1 },
    { "max", 2, FUNCTION_ANY, .of_two = greater_of, .result = RESULT_CHOSEN, .takes_items = true },
    { "min", 2, FUNCTION_ANY, .of_two = lesser_of, .result = RESULT_CHOSEN, .takes_items = true },
    { "round", 1, 2, .of_one = rint, .of_two = round_to, .result = RESULT_ROUNDED,
      .whole_from = 2 },
    { "sum", 1, 0, .of_two = formula_function_sum_of, .result = RESULT_ALIKE, .takes_items = true },
    { "trunc", 1, 1, .of_one = trunc, .result = RESULT_WHOLE }
};

static bool formula_function_is_name(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && !memcmp(known, name, length);
}

const struct function *function_find(enum formula_level level, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].level == level &&
            formula_function_is_name(functions[i].name, name, length))
            return &functions[i];
    return NULL;
}

static const struct {
    const char *name;
    struct formula_value value;
} constants[] = {
    { "False", { 0, true } },       { "True", { 1, true } },   { "e", { M_E, false } },
    { "inf", { INFINITY, false } }, { "nan", { NAN, false } }, { "pi", { M_PI, false } },
    { "tau", { 2 * M_PI, false } },
};

bool constant_find(const char *name, size_t length, struct formula_value *value)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (formula_function_is_name(constants[i].name, name, length)) {
            *value = constants[i].value;
            return true;
        }
    return false;
}
