/* SPDX-License-Identifier: MIT */
#include "core/formula/functions.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const struct function function_type;

/* As Python reports it: an infinite result is too large; poles are NAN here. */
static const char *call_one(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)count;
    double x = arguments->number, result = function->of_one(x);
    if (isnan(result) && !isnan(x))
        return number_no_value;
    if (isinf(result) && isfinite(x))
        return number_no_room;
    *arguments = (struct formula_value){ result, false };
    return NULL;
}

static const char *call_two(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)count;
    double x = arguments[0].number, y = arguments[1].number, result = function->of_two(x, y);
    if (isnan(result) && !isnan(x) && !isnan(y))
        return number_no_value;
    if (isinf(result) && isfinite(x) && isfinite(y))
        return x == 0 ? number_no_value : number_no_room;
    *arguments = (struct formula_value){ result, false };
    return NULL;
}

/* Where Python checks nothing. */
static const char *call_free(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)count;
    *arguments = (struct formula_value){ function->of_one(arguments->number), false };
    return NULL;
}

static bool is_pole(double x)
{
    return x <= 0 && x == floor(x) && isfinite(x);
}

#define OF_ONE(name, result)     \
    static double name(double x) \
    {                            \
        return result;           \
    }

OF_ONE(gamma_of, is_pole(x) ? NAN : tgamma(x))
OF_ONE(log_gamma_of, is_pole(x) ? NAN : lgamma_r(x, &(int){ 0 }))
OF_ONE(log1p_of, x == -1 ? NAN : log1p(x))
OF_ONE(atanh_of, fabs(x) == 1 ? NAN : atanh(x))
OF_ONE(degrees_of, x *(180 / M_PI))
OF_ONE(radians_of, x *(M_PI / 180))
OF_ONE(is_finite, isfinite(x))
OF_ONE(is_infinite, isinf(x) != 0)
OF_ONE(is_no_number, isnan(x))
OF_ONE(is_true, x != 0)

static const char *call_logarithm(function_type *function, struct formula_value *arguments,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].number <= 0)
            return number_no_value;
        arguments[i] = (struct formula_value){ function->of_one(arguments[i].number), false };
    }
    return count == 2 ? number_divide(&arguments[0], &arguments[1]) : NULL;
}

static const char *call_hypot(function_type *function, struct formula_value *arguments,
                              size_t count)
{
    (void)function;
    double root = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        root = hypot(root, arguments[i].number);
        largest = fmax(largest, fabs(arguments[i].number));
    }
    *arguments = (struct formula_value){ isinf(largest) ? INFINITY : root, false };
    return NULL;
}

static const char *call_ldexp(function_type *function, struct formula_value *arguments,
                              size_t count)
{
    (void)function, (void)count;
    if (!arguments[1].is_whole)
        return number_not_whole;
    double x = arguments[0].number, exponent = fmax(fmin(arguments[1].number, INT_MAX), INT_MIN);
    double result = ldexp(x, (int)exponent);
    if (isinf(result) && isfinite(x))
        return number_no_room;
    *arguments = (struct formula_value){ result, false };
    return NULL;
}

/* As near as a billionth of the larger one. */
static const char *call_isclose(function_type *function, struct formula_value *arguments,
                                size_t count)
{
    (void)function, (void)count;
    double x = arguments[0].number, y = arguments[1].number, apart = fabs(y - x);
    bool close =
        x == y || (!isinf(x) && !isinf(y) && (apart <= fabs(1e-9 * y) || apart <= fabs(1e-9 * x)));
    return number_set_whole(arguments, close);
}

/* ---- kinds of numbers ---- */

/* Also int() and bool() without an argument, whose place on the stack has 0. */
static const char *call_whole(function_type *function, struct formula_value *arguments,
                              size_t count)
{
    return number_set_whole(arguments, count ? function->of_one(arguments->number) : 0);
}

static const char *call_float(function_type *function, struct formula_value *arguments,
                              size_t count)
{
    (void)function;
    *arguments = (struct formula_value){ count ? arguments->number : 0, false };
    return NULL;
}

static const char *call_abs(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)function, (void)count;
    arguments->number = fabs(arguments->number);
    return NULL;
}

/* Half goes to the even neighbor; below 10^-places is 0. */
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
    if (!isfinite(x) || fabs(x) >= 0x1p52 || places > 323)
        return x;
    snprintf(text, sizeof text, "%.*f", places, x);
    return strtod(text, NULL);
}

static const char *call_round(function_type *function, struct formula_value *arguments,
                              size_t count)
{
    (void)function;
    if (count == 1)
        return number_set_whole(arguments, rint(arguments->number));
    if (!arguments[1].is_whole)
        return number_not_whole;
    double x = arguments->number, most = fmax(fmin(arguments[1].number, 400), -400);
    int places = (int)most;
    if (isfinite(x))
        arguments->number = places < 0 ? round_left(x, -places) : round_right(x, places);
    return arguments->is_whole ? number_set_whole(arguments, arguments->number) : NULL;
}

/* ---- several numbers ---- */

static const char *call_min(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)function;
    for (size_t i = 1; i < count; i++)
        if (arguments[i].number < arguments->number)
            *arguments = arguments[i];
    return NULL;
}

static const char *call_max(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)function;
    for (size_t i = 1; i < count; i++)
        if (arguments[i].number > arguments->number)
            *arguments = arguments[i];
    return NULL;
}

static const char *call_sum(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)function;
    struct formula_value sum = { 0, true };
    const char *flaw = NULL;
    for (size_t i = 0; i < count && !flaw; i++)
        flaw = number_add(&sum, &arguments[i]);
    *arguments = sum;
    return flaw;
}

/* ---- integers ---- */

static const char *check_whole(const struct formula_value *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!arguments[i].is_whole)
            return number_not_whole;
        if (fabs(arguments[i].number) > 0x1p53)
            return number_no_room;
    }
    return NULL;
}

static double divisor_of(double a, double b)
{
    while (b != 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return fabs(a);
}

static const char *call_gcd(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)function;
    double divisor = 0;
    const char *flaw = check_whole(arguments, count);
    for (size_t i = 0; i < count && !flaw; i++)
        divisor = divisor_of(divisor, arguments[i].number);
    return flaw ? flaw : number_set_whole(arguments, divisor);
}

static const char *call_lcm(function_type *function, struct formula_value *arguments, size_t count)
{
    (void)function;
    double multiple = 1;
    const char *flaw = check_whole(arguments, count);
    for (size_t i = 0; i < count && !flaw; i++) {
        double more = arguments[i].number, divisor = divisor_of(multiple, more);
        multiple = more == 0 ? 0 : fabs(multiple / divisor * more);
        if (multiple > 0x1p53)
            flaw = number_no_room;
    }
    return flaw ? flaw : number_set_whole(arguments, multiple);
}

static const char *check_natural(const struct formula_value *arguments)
{
    const char *flaw = check_whole(arguments, 1);
    return flaw ? flaw : arguments->number < 0 ? number_no_value : NULL;
}

static const char *call_isqrt(function_type *function, struct formula_value *arguments,
                              size_t count)
{
    (void)function, (void)count;
    const char *flaw = check_natural(arguments);
    return flaw ? flaw : number_set_whole(arguments, floor(sqrt(arguments->number)));
}

static const char *call_factorial(function_type *function, struct formula_value *arguments,
                                  size_t count)
{
    (void)function, (void)count;
    double product = 1;
    const char *flaw = check_natural(arguments);
    for (double factor = 2; !flaw && factor <= arguments->number && isfinite(product); factor++)
        product *= factor;
    return flaw ? flaw : number_set_whole(arguments, product);
}

/* ---- their names ---- */

#define REAL(name, of)                        \
    {                                         \
        name, 1, 1, false, call_one, of, NULL \
    }
#define PAIR(name, of)                        \
    {                                         \
        name, 2, 2, false, call_two, NULL, of \
    }

static const struct function functions[] = {
    { "abs", 1, 1, false, call_abs, NULL, NULL },
    REAL("acos", acos),
    REAL("acosh", acosh),
    REAL("asin", asin),
    REAL("asinh", asinh),
    REAL("atan", atan),
    PAIR("atan2", atan2),
    REAL("atanh", atanh_of),
    { "bool", 0, 1, false, call_whole, is_true, NULL },
    REAL("cbrt", cbrt),
    { "ceil", 1, 1, false, call_whole, ceil, NULL },
    PAIR("copysign", copysign),
    REAL("cos", cos),
    REAL("cosh", cosh),
    { "degrees", 1, 1, false, call_free, degrees_of, NULL },
    REAL("erf", erf),
    REAL("erfc", erfc),
    REAL("exp", exp),
    REAL("exp2", exp2),
    REAL("expm1", expm1),
    REAL("fabs", fabs),
    { "factorial", 1, 1, false, call_factorial, NULL, NULL },
    { "float", 0, 1, false, call_float, NULL, NULL },
    { "floor", 1, 1, false, call_whole, floor, NULL },
    PAIR("fmod", fmod),
    REAL("gamma", gamma_of),
    { "gcd", 0, FUNCTION_ANY, false, call_gcd, NULL, NULL },
    { "hypot", 0, FUNCTION_ANY, false, call_hypot, NULL, NULL },
    { "int", 0, 1, false, call_whole, trunc, NULL },
    { "isclose", 2, 2, false, call_isclose, NULL, NULL },
    { "isfinite", 1, 1, false, call_whole, is_finite, NULL },
    { "isinf", 1, 1, false, call_whole, is_infinite, NULL },
    { "isnan", 1, 1, false, call_whole, is_no_number, NULL },
    { "isqrt", 1, 1, false, call_isqrt, NULL, NULL },
    { "lcm", 0, FUNCTION_ANY, false, call_lcm, NULL, NULL },
    { "ldexp", 2, 2, false, call_ldexp, NULL, NULL },
    REAL("lgamma", log_gamma_of),
    { "log", 1, 2, false, call_logarithm, log, NULL },
    { "log10", 1, 1, false, call_logarithm, log10, NULL },
    REAL("log1p", log1p_of),
    { "log2", 1, 1, false, call_logarithm, log2, NULL },
    { "max", 2, FUNCTION_ANY, true, call_max, NULL, NULL },
    { "min", 2, FUNCTION_ANY, true, call_min, NULL, NULL },
    PAIR("pow", pow),
    { "radians", 1, 1, false, call_free, radians_of, NULL },
    PAIR("remainder", remainder),
    { "round", 1, 2, false, call_round, NULL, NULL },
    REAL("sin", sin),
    REAL("sinh", sinh),
    REAL("sqrt", sqrt),
    { "sum", 1, 0, true, call_sum, NULL, NULL },
    REAL("tan", tan),
    REAL("tanh", tanh),
    { "trunc", 1, 1, false, call_whole, trunc, NULL },
};

static bool is_name(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && !memcmp(known, name, length);
}

const struct function *function_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (is_name(functions[i].name, name, length))
            return &functions[i];
    return NULL;
}

static const struct {
    const char *name, *why;
} refusals[] = {
    { "None", "it is not a number" },
    { "is", "numbers are compared with ==" },
    { "lambda", "a formula defines no functions" },
    { "for", "a formula has no loops" },
    { "all", "its argument is a sequence" },
    { "any", "its argument is a sequence" },
    { "fsum", "its argument is a sequence" },
    { "prod", "its argument is a sequence" },
    { "divmod", "its result is two numbers" },
    { "frexp", "its result is two numbers" },
    { "modf", "its result is two numbers" },
    { "complex", "its result is not a real number" },
    { "comb", "its results are too large" },
    { "perm", "its results are too large" },
};

const char *function_refusal(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (is_name(refusals[i].name, name, length))
            return refusals[i].why;
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
        if (is_name(constants[i].name, name, length)) {
            *value = constants[i].value;
            return true;
        }
    return false;
}
