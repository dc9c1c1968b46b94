/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "util/number.h"
#include "util/text.h"

#define RANDOM 300000

/* splitmix64 */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t h = *state += UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static bool same_text(struct text *text, const char *expected)
{
    bool same = !strcmp(text->bytes, expected) && text->length == strlen(expected);
    if (!same)
        printf("# got      %s\n# expected %s\n", text->bytes, expected);
    text->length = 0;
    return same;
}

static bool is_as_printf(double number)
{
    static struct text text;
    char expected[512];
    bool same = true;
    for (int decimals = 0; decimals <= 17; decimals++) {
        snprintf(expected, sizeof expected, "%.*f", decimals, number);
        text_add_fixed(&text, number, decimals);
        same &= same_text(&text, expected);
    }
    snprintf(expected, sizeof expected, "%.17g", number);
    text_add_exact(&text, number);
    same &= same_text(&text, expected);
    return same;
}

static void edges(void)
{
    static const double numbers[] = { 0,
                                      -0.0,
                                      1,
                                      -1,
                                      0.5,
                                      1.5,
                                      2.5,
                                      0.125,
                                      0.375,
                                      1e-4,
                                      1e-5,
                                      9.9999e-5,
                                      1e16,
                                      1e17,
                                      1e18,
                                      1e22,
                                      1e23,
                                      1e300,
                                      1e-16,
                                      1e-17,
                                      1e-300,
                                      5e-324,
                                      0.1,
                                      0.3,
                                      1e15,
                                      123456,
                                      1 / 3.0,
                                      99.99999999999999,
                                      9.5,
                                      0.0000005,
                                      1e-32,
                                      0x1p-75,
                                      0x1p-76,
                                      0x1p-128,
                                      0x1p-127,
                                      0x1.8p-127,
                                      0x1p63,
                                      0x1p64,
                                      0x1.fffffffffffffp63,
                                      0x1p53,
                                      0x1p52,
                                      INFINITY,
                                      -INFINITY,
                                      NAN };
    bool same = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        same &= is_as_printf(numbers[i]);
    ok(same, "ties, powers of two, infinities and NaN are written as by printf");
    for (int power = -330; power <= 308; power++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", power);
        double number = strtod(text, NULL);
        same &= is_as_printf(number) && is_as_printf(nextafter(number, 0)) &&
                is_as_printf(nextafter(number, INFINITY));
    }
    ok(same, "neighbors of powers of ten are written as by printf");
}

static void random_numbers(void)
{
    uint64_t state = 1;
    bool any_bits = true, small = true, whole = true;
    for (int i = 0; i < RANDOM / 30; i++) {
        uint64_t bits = random_bits(&state);
        double number;
        memcpy(&number, &bits, sizeof number);
        any_bits &= is_as_printf(number);
    }
    for (int i = 0; i < RANDOM; i++) {
        double number = ldexp((double)random_bits(&state), -64 - (int)(random_bits(&state) % 64));
        small &= is_as_printf(number);
        whole &= is_as_printf(
            ldexp((double)(random_bits(&state) >> 40), -(int)(random_bits(&state) % 24)));
    }
    ok(any_bits, "doubles with random bits are written as printf() writes them");
    ok(small, "numbers below 1 are written as printf() writes them");
    ok(whole, "numbers with few decimals, often ties, are written as printf() writes them");
}

static void integers(void)
{
    static const int64_t numbers[] = { 0, 1, -1, 9, 10, -10, INT64_MAX, INT64_MIN, 1000000000000 };
    struct text text = { 0 };
    bool same = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%" PRId64, numbers[i]);
        text_add_integer(&text, numbers[i]);
        same &= same_text(&text, expected);
    }
    text_free(&text);
    ok(same, "integers are written as by printf");
}

int main(void)
{
    edges();
    random_numbers();
    integers();
    return done_testing();
}
