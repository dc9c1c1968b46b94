/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <time.h>

#include "util/number.h"

static int64_t seconds_of(const char *text)
{
    uint64_t seconds;
    return time_string_parse(text, &seconds) ? (int64_t)seconds : -1;
}

static int64_t duration_of(const char *text)
{
    uint64_t seconds;
    return duration_parse(text, &seconds) ? (int64_t)seconds : -1;
}

static int64_t clock_span_of(const char *text)
{
    uint64_t seconds;
    return clock_span_parse(text, strlen(text), &seconds) ? (int64_t)seconds : -1;
}

static void clock_spans(void)
{
    is_int(clock_span_of("24:00:00"), 86400, "a span of OpenPBS's is hours, minutes and seconds");
    is_int(clock_span_of("1:02"), 62, "or minutes and seconds");
    is_int(clock_span_of("100:00:99"), 360099, "of any digits");
    is_int(clock_span_of("7"), 7, "or seconds");
    for (const char *const *bad =
             (const char *const[]){ "", ":", "1:", ":1", "1:2:3:4", "-1:00", "1:2:3:", "1.5", "1:x",
                                    "999999999999999999:0:0", NULL };
         *bad; bad++)
        is_int(clock_span_of(*bad), -1, "and nothing else");
}

static int64_t time_of(const char *text)
{
    int64_t epoch;
    return time_parse(text, &epoch) ? epoch : -1;
}

static bool is_unsigned(const char *text)
{
    uint64_t number;
    return number_unsigned(text, strlen(text), &number);
}

static bool is_real(const char *text)
{
    double number;
    return number_real(text, &number);
}

/* A decimal as `digits e power`, "" where it is none. */
static const char *decimal_of(const char *text)
{
    static char said[64];
    struct decimal decimal;
    *said = '\0';
    if (decimal_parse(text, strlen(text), &decimal))
        snprintf(said, sizeof said, "%" PRIu64 "e%d", decimal.digits, decimal.power);
    return said;
}

static void decimals(void)
{
    is_string(decimal_of("2"), "2e0", "a decimal is digits");
    is_string(decimal_of("0.25"), "25e-2", "with a point");
    is_string(decimal_of(".5"), "5e-1", "that may come first");
    is_string(decimal_of("1."), "1e0", "or last");
    is_string(decimal_of("00120.0300"), "12003e-2", "noughts at its ends are not digits");
    is_string(decimal_of("15e-3"), "15e-3", "it may have an exponent");
    is_string(decimal_of("1.5E+20"), "15e19", "of either sign");
    is_string(decimal_of("0.000e7"), "0e0", "nothing is nothing");
    is_string(decimal_of("999999999999999999"), "999999999999999999e0", "18 digits are kept");
    is_string(decimal_of("1234567890123456789"), "", "19 are refused");
    is_string(decimal_of("1000000000000000000000"), "1e21", "but noughts behind them are not");
    ok(!*decimal_of("") && !*decimal_of(".") && !*decimal_of("-1") && !*decimal_of("+1") &&
           !*decimal_of("1,5") && !*decimal_of("1.2.3") && !*decimal_of("1e") &&
           !*decimal_of("1e1234") && !*decimal_of("1e+-1") && !*decimal_of("0x10") &&
           !*decimal_of("nan") && !*decimal_of(" 1") && !*decimal_of("1 "),
       "no other form is a decimal");
}

int main(void)
{
    uint64_t number;
    int64_t negative;
    setenv("TZ", "UTC", 1);
    tzset();

    ok(number_unsigned("18446744073709551615", 20, &number) && number == UINT64_MAX,
       "the largest unsigned number is read");
    ok(!is_unsigned("18446744073709551616"), "one more is not");
    ok(!is_unsigned("") && !is_unsigned(" 1") && !is_unsigned("1 ") && !is_unsigned("+1") &&
           !is_unsigned("-1") && !is_unsigned("0x10") && !is_unsigned("1.0"),
       "an unsigned number is digits and nothing else");
    ok(number_signed("-9223372036854775808", 20, &negative) && negative == INT64_MIN,
       "the least signed number is read");
    ok(!number_signed("9223372036854775808", 19, &negative), "what has 64 bits has no sign");
    ok(is_real("0.5") && is_real("-1e3") && is_real(".5"), "decimals are numbers");
    ok(!is_real("1,5") && !is_real("nan") && !is_real("inf") && !is_real("0x1p3") &&
           !is_real("1e999") && !is_real("") && !is_real("1 "),
       "commas, NaN, infinity and hexadecimals are not");

    decimals();
    clock_spans();
    is_int(seconds_of("5"), 300, "a bare number of a time string is minutes");
    is_int(seconds_of("1:30:00"), 5400, "hr:min:00");
    is_int(seconds_of("2-3:15:00"), 2 * 86400 + 3 * 3600 + 15 * 60, "days-hr:min:00");
    is_int(seconds_of("7-0"), 604800, "days-hr");
    is_int(seconds_of("0"), 0, "nothing is a time too");
    ok(seconds_of("") < 0 && seconds_of("1:30") < 0 && seconds_of("7y") < 0 &&
           seconds_of("1:00:30") < 0 && seconds_of("1:60:00") < 0 && seconds_of("-1") < 0 &&
           seconds_of("1-") < 0 && seconds_of("1-0:5") < 0,
       "no other form is a time string");
    ok(seconds_of("30s") == 30 && seconds_of("5 m") == 300 && seconds_of("2h") == 7200 &&
           seconds_of("7d") == 604800 && seconds_of("2w") == 1209600,
       "a time string takes a number with a unit");
    ok(seconds_of("1-0h") < 0 && seconds_of("1:00:00s") < 0 && seconds_of("s") < 0 &&
           seconds_of("30ms") < 0 && seconds_of(" 30s") < 0,
       "but a unit behind nothing else");
    is_int(seconds_of("99999999999999999999-0"), -1, "a time string that overflows is none");

    is_int(duration_of("90"), 90, "a bare duration is seconds");
    ok(duration_of("2m") == 120 && duration_of("2 h") == 7200 && duration_of("1d") == 86400 &&
           duration_of("2w") == 1209600,
       "a duration has a unit");
    ok(duration_of("m") < 0 && duration_of("2y") < 0 && duration_of("2mm") < 0, "but no other one");

    is_int(time_of("1750500000"), 1750500000, "epoch seconds are an instant");
    is_int(time_of("2025-06-21"), 1750464000, "a date is its first second");
    is_int(time_of("2025-06-21T10:00"), 1750500000, "with hour and minute");
    is_int(time_of("2025-06-21T10:00:07"), 1750500007, "with seconds");
    ok(time_of("2025-06-31") < 0 && time_of("2025-13-01") < 0 && time_of("2025-06-21T24:00") < 0 &&
           time_of("2025-6-21") < 0 && time_of("2025-06-21 10:00") < 0 &&
           time_of("2025-06-21T10") < 0,
       "a date that is none is refused");
    return done_testing();
}
