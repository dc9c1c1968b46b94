/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/number/floating.h"
#include "core/number/wide.h"

static uint64_t state = 88172645463325252u;

static uint64_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Returns a random number with a random number of bits. */
static uint64_t some(void)
{
    return any() >> (any() % 60);
}

static struct natural power_of_two(unsigned bits)
{
    struct natural one = natural_of(1);
    return natural_shifted(&one, bits);
}

static void sums(void)
{
    struct wide sum = { { 0 } }, one = { { 1 } };
    bool back = true;
    uint128 charge[200], weight[200];
    for (int i = 0; i < 200; i++) {
        charge[i] = (uint128)some() << 30 | any() >> 34;
        weight[i] = (uint128)(any() >> 2) << 64 | any();
        back &= wide_add_product(&sum, charge[i], weight[i], i & 1);
    }
    for (int i = 199; i >= 0; i--)
        back &= wide_add_product(&sum, charge[i], weight[i], !(i & 1));
    ok(back && wide_is_zero(&sum), "adding and subtracting the same products in any order gives 0");

    wide_subtract(&sum, &one);
    ok(wide_is_negative(&sum) && sum.word[0] == UINT64_MAX && sum.word[3] == UINT64_MAX,
       "0 minus 1 is negative");
    struct wide most = { { UINT64_MAX, UINT64_MAX, UINT64_MAX, INT64_MAX } }, before = most;
    ok(!wide_add(&most, &one) && !memcmp(&most, &before, sizeof most),
       "a sum beyond the range is rejected and not changed");
    struct wide least = { { 0, 0, 0, UINT64_C(1) << 63 } };
    ok(!wide_subtract(&least, &one), "a difference below the range is rejected");
    ok(wide_subtract(&sum, &least) && !memcmp(&sum, &most, sizeof most),
       "the lowest number can be subtracted from a negative number");
    ok(!wide_subtract(&one, &least) && one.word[3] == 0,
       "the lowest number cannot be subtracted from a positive number");
    ok(!wide_add_product(&most, 1, 1, false) && wide_add_product(&most, 1, 1, true),
       "a product beyond the range is rejected");

    bool times = true;
    for (int i = 0; i < 200; i++) {
        uint64_t times_what = some();
        struct wide more, product = { { 0 } };
        wide_add_product(&product, charge[i], 1, i & 1);
        more = wide_times(&product, times_what);
        times &= wide_add_product(&more, charge[i], times_what, !(i & 1)) && wide_is_zero(&more);
    }
    ok(times, "a sum times a number is their product, also if negative");
}

static void quotients(void)
{
    bool small = true, scaled = true, monotone = true;
    for (int i = 0; i < 200000; i++) {
        uint64_t a = some() >> 11, b = (some() >> 11) | 1, c = some() | 1;
        struct natural n = natural_of(a), d = natural_of(b), k = natural_of(c);
        double quotient = natural_quotient(&n, &d);
        small &= quotient == (double)a / (double)b;
        struct natural nk = natural_product(&n, &k), dk = natural_product(&d, &k);
        struct natural more = natural_of(a + 1);
        scaled &= natural_quotient(&nk, &dk) == quotient;
        monotone &= natural_quotient(&more, &d) >= quotient;
    }
    ok(small, "a quotient of small numbers equals the processor's");
    ok(scaled, "a common factor does not change a quotient");
    ok(monotone, "a larger numerator does not give a smaller quotient");

    struct natural half = natural_of((UINT64_C(1) << 53) + 1), one = natural_of(1);
    is_double_exact(natural_quotient(&half, &one), 0x1p53,
                    "a quotient halfway between two doubles rounds to even");
    struct natural above = natural_shifted(&half, 200), bit = power_of_two(200);
    above.word[0] |= 1;
    is_double_exact(natural_quotient(&above, &bit), 0x1.0000000000001p53,
                    "a bit two hundred places lower decides the rounding");
    struct natural huge = power_of_two(600), three = natural_of(3);
    is_double_exact(natural_quotient(&huge, &three), ldexp(1.0 / 3, 600),
                    "a large number divided by a small one is correct");
    is_double_exact(natural_quotient(&three, &huge), ldexp(3, -600),
                    "a small number divided by a large one is correct");
    struct wide part = { { 1 } }, nothing = { { 0 } };
    ok(wide_quotient(&nothing, &nothing) == 0 && wide_quotient(&part, &nothing) == 0,
       "dividing by 0 gives 0");
}

static void products(void)
{
    bool same = true;
    for (int i = 0; i < 20000; i++) {
        struct natural a = natural_of(any()), b = natural_of(any()), c = natural_of(any());
        struct natural ab = natural_product(&a, &b), bc = natural_product(&b, &c);
        struct natural left = natural_product(&ab, &c), right = natural_product(&a, &bc);
        same &= natural_compare(&left, &right) == 0;
        left = natural_times(&ab, 3);
        struct natural twice = natural_shifted(&ab, 1);
        same &= natural_compare(&left, &twice) > 0;
        struct natural once = natural_difference(&left, &twice);
        same &= natural_compare(&once, &ab) == 0;
    }
    ok(same, "products are associative, and 3 a - 2 a = a");
    struct natural large = power_of_two(300), one = natural_of(1), nothing = natural_of(0);
    struct natural below = natural_difference(&large, &one);
    ok(natural_bits(&large) == 301 && natural_bits(&below) == 300 && natural_bits(&one) == 1 &&
           natural_bits(&nothing) == 0,
       "a difference borrows across words, and bits are counted");
}

/* This processor has the format in hardware. */
static void extended_precision(void)
{
#if defined __x86_64__
    bool same = true, ordered = true;
    for (int i = 0; i < 100000; i++) {
        double a = (double)(some() | 1) / 7, b = (double)(some() | 1) / 11, c = (double)(any() | 1);
        struct extended quotient = extended_quotient(extended_of_double(a), extended_of_double(b));
        struct extended again = extended_quotient(extended_of_double(c), quotient);
        long double expected = (long double)c / ((long double)a / (long double)b);
        same &= ldexpl((long double)again.mantissa, again.exponent) == expected;
        same &= extended_to_double(again) == (double)expected;
        long double other = (long double)a / (long double)b;
        ordered &= (extended_compare(again, quotient) > 0) == (expected > other);
    }
    ok(same, "an extended quotient equals the processor's long double");
    ok(ordered, "extended numbers are ordered like long doubles");
#else
    diag("skipped the comparison of quotients: this processor has no extended doubles");
#endif
    ok(extended_compare(extended_infinite(), extended_of_double(1e300)) > 0 &&
           extended_compare(extended_infinite(), extended_infinite()) == 0 &&
           extended_compare(extended_of_double(0), extended_of_double(1e-300)) < 0,
       "infinity is above all numbers, and 0 below");
}

/* Compares each shift with repeated halving. */
static void shifts(void)
{
    bool right = true;
    for (int i = 0; i < 1000; i++) {
        struct wide number = { { any(), any(), any(), any() } }, halved = number;
        for (unsigned bits = 0; bits < 256; bits++) {
            struct wide shifted = wide_shifted_down(&number, bits);
            right &= !memcmp(&shifted, &halved, sizeof shifted);
            uint64_t sign = halved.word[3] & UINT64_C(1) << 63;
            for (unsigned word = 0; word < 4; word++)
                halved.word[word] =
                    halved.word[word] >> 1 | (word < 3 ? halved.word[word + 1] << 63 : sign);
        }
    }
    ok(right, "a sum shifted down is halved repeatedly, also if negative");
}

int main(void)
{
    sums();
    shifts();
    quotients();
    products();
    extended_precision();
    return done_testing();
}
