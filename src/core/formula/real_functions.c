/* SPDX-License-Identifier: MIT */
#include "core/formula/real_functions.h"

#include <limits.h>
#include <math.h>

/* An infinite answer is too large, as Python has it; poles are NAN here. */
static const char *call_of_one(const struct function *function, struct amount *arguments,
                               size_t count)
{
    (void)count;
    double x;
    const char *flaw = amount_to_double(arguments, &x);
    if (flaw)
        return flaw;
    double answer = function->of_one(x);
    if (isnan(answer) && !isnan(x))
        return amount_no_value;
    if (isinf(answer) && isfinite(x))
        return amount_no_room;
    amount_set_real(arguments, answer);
    return NULL;
}

/* Where Python checks nothing. */
static const char *call_unchecked(const struct function *function, struct amount *arguments,
                                  size_t count)
{
    (void)count;
    double x;
    const char *flaw = amount_to_double(arguments, &x);
    if (!flaw)
        amount_set_real(arguments, function->of_one(x));
    return flaw;
}

static const char *to_two_doubles(const struct amount *arguments, double *x, double *y)
{
    const char *flaw = amount_to_double(&arguments[0], x);
    return flaw ? flaw : amount_to_double(&arguments[1], y);
}

static const char *call_of_two(const struct function *function, struct amount *arguments,
                               size_t count)
{
    (void)count;
    double x, y;
    const char *flaw = to_two_doubles(arguments, &x, &y);
    if (flaw)
        return flaw;
    double answer = function->of_two(x, y);
    if (isnan(answer) && !isnan(x) && !isnan(y))
        return amount_no_value;
    if (isinf(answer) && isfinite(x) && isfinite(y))
        return x == 0 ? amount_no_value : amount_no_room;
    amount_set_real(arguments, answer);
    return NULL;
}

static bool is_pole(double x)
{
    return x <= 0 && x == floor(x) && isfinite(x);
}

static double gamma_of(double x)
{
    return is_pole(x) ? NAN : tgamma(x);
}

/* lgamma() stores a sign where all can see it. */
static double log_gamma_of(double x)
{
    int sign;
    return is_pole(x) ? NAN : lgamma_r(x, &sign);
}

static double log1p_of(double x)
{
    return x == -1 ? NAN : log1p(x);
}

static double atanh_of(double x)
{
    return fabs(x) == 1 ? NAN : atanh(x);
}

static double degrees_of(double x)
{
    return x * (180 / M_PI);
}

static double radians_of(double x)
{
    return x * (M_PI / 180);
}

static double ulp_of(double x)
{
    x = fabs(x);
    if (!isfinite(x))
        return x;
    double above = nextafter(x, INFINITY);
    return isinf(above) ? x - nextafter(x, -INFINITY) : above - x;
}

/* The logarithm of an integer beyond all doubles is that of its highest bits and that of the power
 * of two behind them. */
static const char *logarithm(const struct amount *amount, double (*of)(double), double *answer)
{
    double x;
    if (!amount_to_double(amount, &x)) {
        if (x <= 0)
            return amount_no_value;
        *answer = of(x);
        return NULL;
    }
    if (mpz_sgn(amount->whole) <= 0)
        return amount_no_value;
    size_t bits = mpz_sizeinbase(amount->whole, 2);
    struct fraction part;
    fraction_start(&part, 0);
    mpz_set(part.over, amount->whole);
    mpz_mul_2exp(part.under, part.under, bits);
    x = fraction_to_double(&part);
    fraction_free(&part);
    if (x == 1) {
        x = 0.5;
        bits++;
    }
    *answer = of(x) + of(2) * (double)bits;
    return NULL;
}

static const char *call_logarithm(const struct function *function, struct amount *arguments,
                                  size_t count)
{
    double answer, base;
    const char *flaw = logarithm(&arguments[0], function->of_one, &answer);
    if (!flaw && count == 2) {
        flaw = logarithm(&arguments[1], function->of_one, &base);
        if (!flaw && base == 0)
            flaw = amount_no_division;
        if (!flaw)
            answer /= base;
    }
    if (!flaw)
        amount_set_real(arguments, answer);
    return flaw;
}

/* ---- and of several ---- */

static const char *call_min(const struct function *function, struct amount *arguments, size_t count)
{
    (void)function;
    for (size_t i = 1; i < count; i++) {
        if (amount_compare(&arguments[i], arguments) == -1)
            amount_set(arguments, &arguments[i]);
    }
    return NULL;
}

static const char *call_max(const struct function *function, struct amount *arguments, size_t count)
{
    (void)function;
    for (size_t i = 1; i < count; i++) {
        if (amount_compare(&arguments[i], arguments) == 1)
            amount_set(arguments, &arguments[i]);
    }
    return NULL;
}

static const char *call_abs(const struct function *function, struct amount *arguments, size_t count)
{
    (void)function, (void)count;
    if (arguments->is_whole)
        mpz_abs(arguments->whole, arguments->whole);
    else
        arguments->real = fabs(arguments->real);
    return NULL;
}

/* The root of a sum of squares, rounded once. */
static double root(const struct fraction *sum)
{
    /* The denominator is a power of two.  With an even exponent its root is exact, and only that of
     * the numerator is rounded. */
    mpz_t over, rest;
    mpz_init_set(over, sum->over);
    mpz_init(rest);
    long under = (long)mpz_sizeinbase(sum->under, 2) - 1;
    long up = 256 + (under & 1);
    mpz_mul_2exp(over, over, (mp_bitcnt_t)up);
    under += up;
    mpz_sqrtrem(over, rest, over);
    /* A last bit says that more follows. */
    mpz_mul_2exp(over, over, 1);
    if (mpz_sgn(rest))
        mpz_add_ui(over, over, 1);
    struct fraction fraction;
    fraction_start(&fraction, 0);
    mpz_set(fraction.over, over);
    mpz_mul_2exp(fraction.under, fraction.under, (mp_bitcnt_t)(under / 2 + 1));
    double nearest = fraction_to_double(&fraction);
    fraction_free(&fraction);
    mpz_clear(over);
    mpz_clear(rest);
    return nearest;
}

static const char *call_hypot(const struct function *function, struct amount *arguments,
                              size_t count)
{
    (void)function;
    bool infinite = false, none = false;
    struct fraction sum, square;
    fraction_start(&sum, 0);
    fraction_start(&square, 0);
    const char *flaw = NULL;
    for (size_t i = 0; i < count && !flaw; i++) {
        double x;
        flaw = amount_to_double(&arguments[i], &x);
        infinite |= !flaw && isinf(x);
        none |= !flaw && isnan(x);
        if (flaw || !isfinite(x))
            continue;
        fraction_set_double(&square, x);
        fraction_multiply(&square, &square);
        fraction_add(&sum, &square);
    }
    if (!flaw)
        amount_set_real(arguments, infinite ? INFINITY : none ? NAN : root(&sum));
    fraction_free(&sum);
    fraction_free(&square);
    return flaw;
}

static const char *call_ldexp(const struct function *function, struct amount *arguments,
                              size_t count)
{
    (void)function, (void)count;
    double x;
    const char *flaw = amount_to_double(arguments, &x);
    if (flaw)
        return flaw;
    if (!arguments[1].is_whole)
        return amount_not_whole;
    bool fits = mpz_fits_sint_p(arguments[1].whole);
    int exponent = fits ? (int)mpz_get_si(arguments[1].whole)
                        : (mpz_sgn(arguments[1].whole) < 0 ? INT_MIN : INT_MAX);
    double answer = ldexp(x, exponent);
    if (isinf(answer) && isfinite(x))
        return amount_no_room;
    amount_set_real(arguments, answer);
    return NULL;
}

/* As near as a billionth of the larger one. */
static const char *call_isclose(const struct function *function, struct amount *arguments,
                                size_t count)
{
    (void)function, (void)count;
    double x, y;
    const char *flaw = to_two_doubles(arguments, &x, &y);
    if (flaw)
        return flaw;
    double apart = fabs(y - x);
    bool close =
        x == y || (!isinf(x) && !isinf(y) && (apart <= fabs(1e-9 * y) || apart <= fabs(1e-9 * x)));
    amount_set_whole(arguments, close);
    return NULL;
}

static double is_finite(double x)
{
    return isfinite(x);
}

static double is_infinite(double x)
{
    return isinf(x) != 0;
}

static double is_no_number(double x)
{
    return isnan(x);
}

static const char *call_is(const struct function *function, struct amount *arguments, size_t count)
{
    (void)count;
    double x;
    const char *flaw = amount_to_double(arguments, &x);
    if (!flaw)
        amount_set_whole(arguments, function->of_one(x) != 0);
    return flaw;
}

#define REAL(name, of)                    \
    {                                     \
        name, 1, 1, call_of_one, of, NULL \
    }
#define PAIR(name, of)                    \
    {                                     \
        name, 2, 2, call_of_two, NULL, of \
    }
#define OTHER(name, least, most, call)      \
    {                                       \
        name, least, most, call, NULL, NULL \
    }

const struct function real_functions[] = {
    OTHER("abs", 1, 1, call_abs),
    REAL("acos", acos),
    REAL("acosh", acosh),
    REAL("asin", asin),
    REAL("asinh", asinh),
    REAL("atan", atan),
    PAIR("atan2", atan2),
    REAL("atanh", atanh_of),
    REAL("cbrt", cbrt),
    PAIR("copysign", copysign),
    REAL("cos", cos),
    REAL("cosh", cosh),
    { "degrees", 1, 1, call_unchecked, degrees_of, NULL },
    REAL("erf", erf),
    REAL("erfc", erfc),
    REAL("exp", exp),
    REAL("exp2", exp2),
    REAL("expm1", expm1),
    REAL("fabs", fabs),
    PAIR("fmod", fmod),
    REAL("gamma", gamma_of),
    OTHER("hypot", 0, FUNCTION_ANY, call_hypot),
    OTHER("isclose", 2, 2, call_isclose),
    { "isfinite", 1, 1, call_is, is_finite, NULL },
    { "isinf", 1, 1, call_is, is_infinite, NULL },
    { "isnan", 1, 1, call_is, is_no_number, NULL },
    OTHER("ldexp", 2, 2, call_ldexp),
    REAL("lgamma", log_gamma_of),
    { "log", 1, 2, call_logarithm, log, NULL },
    { "log10", 1, 1, call_logarithm, log10, NULL },
    REAL("log1p", log1p_of),
    { "log2", 1, 1, call_logarithm, log2, NULL },
    OTHER("max", 2, FUNCTION_ANY, call_max),
    OTHER("min", 2, FUNCTION_ANY, call_min),
    PAIR("nextafter", nextafter),
    PAIR("pow", pow),
    { "radians", 1, 1, call_unchecked, radians_of, NULL },
    PAIR("remainder", remainder),
    REAL("sin", sin),
    REAL("sinh", sinh),
    REAL("sqrt", sqrt),
    REAL("tan", tan),
    REAL("tanh", tanh),
    REAL("ulp", ulp_of),
    { .name = NULL },
};
