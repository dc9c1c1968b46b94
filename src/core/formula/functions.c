/* SPDX-License-Identifier: MIT */
#include "core/formula/functions.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of one number ---- */

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
OF_ONE(log10_of, x <= 0 ? NAN : log10(x))
OF_ONE(log2_of, x <= 0 ? NAN : log2(x))
OF_ONE(log1p_of, x == -1 ? NAN : log1p(x))
OF_ONE(atanh_of, fabs(x) == 1 ? NAN : atanh(x))
OF_ONE(degrees_of, x *(180 / M_PI))
OF_ONE(radians_of, x *(M_PI / 180))
OF_ONE(identity, x)
OF_ONE(is_finite, isfinite(x))
OF_ONE(is_infinite, isinf(x) != 0)
OF_ONE(is_no_number, isnan(x))
OF_ONE(is_true, x != 0)
OF_ONE(square_root_of, x < 0 ? NAN : floor(sqrt(x)))

static double factorial_of(double x)
{
    double product = 1;
    for (double factor = 2; factor <= x && isfinite(product); factor++)
        product *= factor;
    return x < 0 ? NAN : product;
}

/* ---- of two ---- */

/* As near as a billionth of the larger one. */
static double is_close(double x, double y)
{
    double apart = fabs(y - x);
    return x == y ||
           (!isinf(x) && !isinf(y) && (apart <= fabs(1e-9 * y) || apart <= fabs(1e-9 * x)));
}

static double load_exponent(double x, double exponent)
{
    return ldexp(x, (int)fmax(fmin(exponent, INT_MAX), INT_MIN));
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

/* ---- of several ---- */

typedef const struct formula_value values;

static double least_of(values *arguments, size_t count)
{
    double least = arguments->number;
    for (size_t i = 1; i < count; i++)
        least = arguments[i].number < least ? arguments[i].number : least;
    return least;
}

static double most_of(values *arguments, size_t count)
{
    double most = arguments->number;
    for (size_t i = 1; i < count; i++)
        most = arguments[i].number > most ? arguments[i].number : most;
    return most;
}

static double sum_of(values *arguments, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += arguments[i].number;
    return sum;
}

static double hypotenuse_of(values *arguments, size_t count)
{
    double root = 0;
    bool is_infinite = false;
    for (size_t i = 0; i < count; i++) {
        root = hypot(root, arguments[i].number);
        is_infinite |= isinf(arguments[i].number) != 0;
    }
    return is_infinite ? INFINITY : root;
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

static double greatest_divisor(values *arguments, size_t count)
{
    double divisor = 0;
    for (size_t i = 0; i < count; i++)
        divisor = divisor_of(divisor, arguments[i].number);
    return divisor;
}

static double least_multiple(values *arguments, size_t count)
{
    double multiple = 1;
    for (size_t i = 0; i < count && multiple <= 0x1p53; i++) {
        double more = arguments[i].number;
        multiple = more == 0 ? 0 : fabs(multiple / divisor_of(multiple, more) * more);
    }
    return multiple > 0x1p53 ? INFINITY : multiple;
}

static double logarithm_of(values *arguments, size_t count)
{
    return count > 1 ? log(arguments[0].number) / log(arguments[1].number) : log(arguments->number);
}

/* Python looks at the number and the base one after the other. */
static const char *check_logarithm(values *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (arguments[i].number <= 0)
            return number_no_value;
    return count > 1 && arguments[1].number == 1 ? number_no_division : NULL;
}

/* ---- calls ---- */

static bool is_whole(const struct function *function, values *arguments, size_t count,
                     double result)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        if (function->result == RESULT_CHOSEN && arguments[i].number == result)
            return arguments[i].is_whole;
        all &= arguments[i].is_whole;
    }
    switch (function->result) {
    case RESULT_WHOLE:
        return true;
    case RESULT_ROUNDED:
        return count == 1 || arguments->is_whole;
    case RESULT_ALIKE:
        return all;
    default:
        return false;
    }
}

const char *function_call(const struct function *function, struct formula_value *arguments,
                          size_t count)
{
    bool finite = true, number = true;
    for (size_t i = 0; i < count; i++) {
        double x = arguments[i].number;
        finite &= isfinite(x) != 0;
        number &= !isnan(x);
        if (i >= function->first_whole && !arguments[i].is_whole)
            return number_not_whole;
        if (i >= function->first_whole && fabs(x) > 0x1p53)
            return number_no_room;
    }
    const char *flaw =
        function->of_several == logarithm_of ? check_logarithm(arguments, count) : NULL;
    if (flaw)
        return flaw;
    double x = count ? arguments[0].number : 0;
    double result = function->of_several ? function->of_several(arguments, count)
                    : count == 2         ? function->of_two(x, arguments[1].number)
                                         : function->of_one(x);
    if (function->result == RESULT_REAL && number && isnan(result))
        return number_no_value;
    if (function->result == RESULT_REAL && finite && isinf(result))
        return count == 2 && x == 0 ? number_no_value : number_no_room;
    if (is_whole(function, arguments, count, result))
        return number_set_whole(arguments, result);
    *arguments = (struct formula_value){ result, false };
    return NULL;
}

/* ---- their names ---- */

#define REAL(name, of)                                            \
    {                                                             \
        name, 1, 1, false, NO_ARGUMENT, RESULT_REAL, .of_one = of \
    }
#define PAIR(name, of)                                            \
    {                                                             \
        name, 2, 2, false, NO_ARGUMENT, RESULT_REAL, .of_two = of \
    }
#define WHOLE(name, least, of)                                         \
    {                                                                  \
        name, least, 1, false, NO_ARGUMENT, RESULT_WHOLE, .of_one = of \
    }

static const struct function functions[] = {
    { "abs", 1, 1, false, NO_ARGUMENT, RESULT_ALIKE, .of_one = fabs },
    REAL("acos", acos),
    REAL("acosh", acosh),
    REAL("asin", asin),
    REAL("asinh", asinh),
    REAL("atan", atan),
    PAIR("atan2", atan2),
    REAL("atanh", atanh_of),
    WHOLE("bool", 0, is_true),
    REAL("cbrt", cbrt),
    WHOLE("ceil", 1, ceil),
    PAIR("copysign", copysign),
    REAL("cos", cos),
    REAL("cosh", cosh),
    { "degrees", 1, 1, false, NO_ARGUMENT, RESULT_UNCHECKED, .of_one = degrees_of },
    REAL("erf", erf),
    REAL("erfc", erfc),
    REAL("exp", exp),
    REAL("exp2", exp2),
    REAL("expm1", expm1),
    REAL("fabs", fabs),
    { "factorial", 1, 1, false, 0, RESULT_WHOLE, .of_one = factorial_of },
    { "float", 0, 1, false, NO_ARGUMENT, RESULT_UNCHECKED, .of_one = identity },
    WHOLE("floor", 1, floor),
    PAIR("fmod", fmod),
    REAL("gamma", gamma_of),
    { "gcd", 0, FUNCTION_ANY, false, 0, RESULT_WHOLE, .of_several = greatest_divisor },
    { "hypot", 0, FUNCTION_ANY, false, NO_ARGUMENT, RESULT_UNCHECKED, .of_several = hypotenuse_of },
    WHOLE("int", 0, trunc),
    { "isclose", 2, 2, false, NO_ARGUMENT, RESULT_WHOLE, .of_two = is_close },
    WHOLE("isfinite", 1, is_finite),
    WHOLE("isinf", 1, is_infinite),
    WHOLE("isnan", 1, is_no_number),
    { "isqrt", 1, 1, false, 0, RESULT_WHOLE, .of_one = square_root_of },
    { "lcm", 0, FUNCTION_ANY, false, 0, RESULT_WHOLE, .of_several = least_multiple },
    { "ldexp", 2, 2, false, 1, RESULT_REAL, .of_two = load_exponent },
    REAL("lgamma", log_gamma_of),
    { "log", 1, 2, false, NO_ARGUMENT, RESULT_REAL, .of_several = logarithm_of },
    REAL("log10", log10_of),
    REAL("log1p", log1p_of),
    REAL("log2", log2_of),
    { "max", 2, FUNCTION_ANY, true, NO_ARGUMENT, RESULT_CHOSEN, .of_several = most_of },
    { "min", 2, FUNCTION_ANY, true, NO_ARGUMENT, RESULT_CHOSEN, .of_several = least_of },
    PAIR("pow", pow),
    { "radians", 1, 1, false, NO_ARGUMENT, RESULT_UNCHECKED, .of_one = radians_of },
    PAIR("remainder", remainder),
    { "round", 1, 2, false, 1, RESULT_ROUNDED, .of_one = rint, .of_two = round_to },
    REAL("sin", sin),
    REAL("sinh", sinh),
    REAL("sqrt", sqrt),
    { "sum", 1, 0, true, NO_ARGUMENT, RESULT_ALIKE, .of_several = sum_of },
    REAL("tan", tan),
    REAL("tanh", tanh),
    WHOLE("trunc", 1, trunc),
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
