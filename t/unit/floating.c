/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <math.h>

#include "core/number/floating.h"
#include "core/number/fraction.h"

/* Compares arithmetic on 128 bits with exact fractions.  A result may be low by less than
 * 2^-126. */

#define ROUNDS 20000

static uint64_t state = 88172645463325252u;

static uint64_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A random number: with few or many bits, all ones, or a power of two. */
static uint64_t some(void)
{
    uint64_t bits = any() >> (any() % 64);
    switch (any() % 4) {
    case 0:
        return UINT64_MAX >> (any() % 64);
    case 1:
        return UINT64_C(1) << (any() % 64);
    default:
        return bits ? bits : 1;
    }
}

static struct floating some_floating(void)
{
    struct natural natural = natural_of((uint128)some() << 64 | some());
    struct floating number = natural_top(&natural);
    number.exponent += (int)(any() % 300) - 150;
    return number;
}

static struct fraction exact(struct floating number)
{
    struct fraction fraction;
    fraction_start(&fraction, 0);
    fraction_set_floating(&fraction, number);
    return fraction;
}

/* Returns true if result <= truth < result (1 + 2^-126) and the highest bit of `result` is set. */
static bool is_cut(struct floating result, struct fraction *truth)
{
    struct fraction low = exact(result), high = exact(result), little = exact(result);
    fraction_scale(&little, 1, UINT64_C(1) << 63);
    fraction_scale(&little, 1, UINT64_C(1) << 63);
    fraction_add(&high, &little);
    bool cut = fraction_compare(&low, truth) <= 0 && fraction_compare(truth, &high) < 0 &&
               result.mantissa >> 127;
    fraction_free(&low);
    fraction_free(&high);
    fraction_free(&little);
    fraction_free(truth);
    return cut;
}

static void arithmetic(void)
{
    unsigned times = 0, divided = 0, quotients = 0, sums = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct floating a = some_floating(), b = some_floating();
        uint64_t by = some();
        struct fraction truth = exact(a), other = exact(b);
        fraction_scale(&truth, 1, by);
        divided += is_cut(floating_divided(a, by), &truth);
        truth = exact(a);
        fraction_multiply(&truth, &other);
        times += is_cut(floating_product(a, b), &truth);
        truth = exact(a);
        fraction_divide(&truth, &other);
        quotients += is_cut(floating_quotient(a, b), &truth);
        truth = exact(a);
        fraction_add(&truth, &other);
        sums += is_cut(floating_sum(a, b), &truth);
        struct floating whole = floating_of(by);
        fraction_free(&other);
        other = exact(whole);
        truth = exact(a);
        fraction_multiply(&truth, &other);
        times += is_cut(floating_times(a, by), &truth);
        fraction_free(&other);
    }
    is_int(times, 2 * ROUNDS, "products are accurate to 126 bits");
    is_int(divided, ROUNDS, "quotients by a word are accurate to 126 bits");
    is_int(quotients, ROUNDS, "quotients are accurate to 126 bits");
    is_int(sums, ROUNDS, "sums are accurate to 126 bits");
}

static void order(void)
{
    unsigned right = 0, doubles = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct floating a = some_floating(), b = any() % 2 ? some_floating() : a;
        b.mantissa ^= any() % 2;
        struct fraction one = exact(a), other = exact(b);
        double nearest, truth = fraction_to_double(&one);
        bool rounds = floating_rounds(a, 0, &nearest);
        right += floating_compare(a, b) == fraction_compare(&one, &other);
        doubles += !rounds || !(nearest < truth || nearest > truth);
        fraction_free(&one);
        fraction_free(&other);
    }
    is_int(right, ROUNDS, "numbers have the order of their fractions");
    is_int(doubles, ROUNDS, "numbers round to the same doubles as their fractions");

    struct floating one = floating_of(1), below = { ~(uint128)0, -128 }, middle = one;
    ok(floating_is_near(one, below, 1) && !floating_is_near(one, floating_of(2), 1000),
       "numbers on both sides of a power of two can be near");
    ok(!floating_is_near(floating_of(0), one, 1000) &&
           floating_is_near(floating_of(0), floating_of(0), 0),
       "0 is near only to 0");
    double nearest;
    middle.mantissa |= (uint128)1 << 74;
    ok(!floating_rounds(middle, 5, &nearest),
       "a number halfway between two doubles is not rounded");
    middle.mantissa += 6;
    ok(floating_rounds(middle, 5, &nearest) && nearest > 1,
       "a number clearly above the middle is rounded");
}

static void fractions(void)
{
    struct fraction third, two;
    fraction_start(&third, 1);
    fraction_start(&two, 2);
    fraction_scale(&third, -1, 3);
    ok(fraction_to_double(&third) >= -1.0 / 3 && fraction_to_double(&third) <= -1.0 / 3,
       "a fraction rounds as a division does");
    fraction_divide(&two, &third);
    ok(fraction_to_double(&two) <= -6 && fraction_compare(&two, &third) < 0,
       "dividing by a negative number gives a negative number");
    fraction_set_double(&two, 0x1p53 + 2);
    fraction_set_double(&third, 1);
    fraction_scale(&third, 1, 2);
    fraction_subtract(&two, &third);
    ok(fraction_to_double(&two) >= 0x1p53 + 2, "2^53 + 1.5 rounds to the nearest double");
    fraction_free(&third);
    fraction_free(&two);
}

int main(void)
{
    arithmetic();
    order();
    fractions();
    return done_testing();
}
