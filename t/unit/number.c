/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <time.h>

#include "util/number.h"
#include "util/times.h"

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
    is_int(clock_span_of("24:00:00"), 86400, "a duration of OpenPBS is hours, minutes and seconds");
    is_int(clock_span_of("1:02"), 62, "a duration of OpenPBS may be minutes and seconds");
    is_int(clock_span_of("100:00:99"), 360099, "each part may have any number of digits");
    is_int(clock_span_of("7"), 7, "a duration of OpenPBS may be seconds");
    for (const char *const *bad =
             (const char *const[]){ "", ":", "1:", ":1", "1:2:3:4", "-1:00", "1:2:3:", "1.5", "1:x",
                                    "999999999999999999:0:0", NULL };
         *bad; bad++)
        is_int(clock_span_of(*bad), -1, "other forms of OpenPBS's durations are rejected");
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

/* Returns a decimal as `DIGITSePOWER`, or "" if it is invalid. */
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
    is_string(decimal_of("2"), "2e0", "a decimal may be digits only");
    is_string(decimal_of("0.25"), "25e-2", "a decimal may have a point");
    is_string(decimal_of(".5"), "5e-1", "a decimal may begin with a point");
    is_string(decimal_of("1."), "1e0", "a decimal may end with a point");
    is_string(decimal_of("00120.0300"), "12003e-2", "zeros at both ends are removed");
    is_string(decimal_of("15e-3"), "15e-3", "a decimal may have an exponent");
    is_string(decimal_of("1.5E+20"), "15e19", "an exponent may have a plus sign");
    is_string(decimal_of("0.000e7"), "0e0", "0 has power 0");
    is_string(decimal_of("999999999999999999"), "999999999999999999e0", "18 digits are accepted");
    is_string(decimal_of("1234567890123456789"), "", "19 digits are rejected");
    is_string(decimal_of("1000000000000000000000"), "1e21",
              "trailing zeros do not count as digits");
    ok(!*decimal_of("") && !*decimal_of(".") && !*decimal_of("-1") && !*decimal_of("+1") &&
           !*decimal_of("1,5") && !*decimal_of("1.2.3") && !*decimal_of("1e") &&
           !*decimal_of("1e1234") && !*decimal_of("1e+-1") && !*decimal_of("0x10") &&
           !*decimal_of("nan") && !*decimal_of(" 1") && !*decimal_of("1 "),
       "other forms of decimals are rejected");
}

int main(void)
{
    uint64_t number;
    int64_t negative;
    setenv("TZ", "UTC", 1);
    tzset();

    ok(number_unsigned("18446744073709551615", 20, &number) && number == UINT64_MAX,
       "the largest unsigned number is accepted");
    ok(!is_unsigned("18446744073709551616"), "an unsigned number above the largest is rejected");
    ok(!is_unsigned("") && !is_unsigned(" 1") && !is_unsigned("1 ") && !is_unsigned("+1") &&
           !is_unsigned("-1") && !is_unsigned("0x10") && !is_unsigned("1.0"),
       "an unsigned number accepts only digits");
    ok(number_signed("-9223372036854775808", 20, &negative) && negative == INT64_MIN,
       "the lowest signed number is accepted");
    ok(!number_signed("9223372036854775808", 19, &negative),
       "a signed number above the largest is rejected");
    ok(is_real("0.5") && is_real("-1e3") && is_real(".5"), "decimals and exponents are numbers");
    ok(!is_real("1,5") && !is_real("nan") && !is_real("inf") && !is_real("0x1p3") &&
           !is_real("1e999") && !is_real("") && !is_real("1 "),
       "commas, NaN, infinity and hexadecimal numbers are rejected");

    decimals();
    clock_spans();
    is_int(seconds_of("5"), 300, "a bare number in a time string is minutes");
    is_int(seconds_of("1:30:00"), 5400, "a time string may be hr:min:00");
    is_int(seconds_of("2-3:15:00"), 2 * 86400 + 3 * 3600 + 15 * 60,
           "a time string may be days-hr:min:00");
    is_int(seconds_of("7-0"), 604800, "a time string may be days-hr");
    is_int(seconds_of("0"), 0, "a time string may be 0");
    ok(seconds_of("") < 0 && seconds_of("1:30") < 0 && seconds_of("7y") < 0 &&
           seconds_of("1:00:30") < 0 && seconds_of("1:60:00") < 0 && seconds_of("-1") < 0 &&
           seconds_of("1-") < 0 && seconds_of("1-0:5") < 0,
       "other forms of time strings are rejected");
    ok(seconds_of("30s") == 30 && seconds_of("5 m") == 300 && seconds_of("2h") == 7200 &&
           seconds_of("7d") == 604800 && seconds_of("2w") == 1209600,
       "a time string may be a number with a unit");
    ok(seconds_of("1-0h") < 0 && seconds_of("1:00:00s") < 0 && seconds_of("s") < 0 &&
           seconds_of("30ms") < 0 && seconds_of(" 30s") < 0,
       "a unit may only follow a plain number");
    is_int(seconds_of("99999999999999999999-0"), -1, "a time string that overflows is rejected");

    is_int(duration_of("90"), 90, "a bare duration is seconds");
    ok(duration_of("2m") == 120 && duration_of("2 h") == 7200 && duration_of("1d") == 86400 &&
           duration_of("2w") == 1209600,
       "a duration may have a unit");
    ok(duration_of("m") < 0 && duration_of("2y") < 0 && duration_of("2mm") < 0,
       "unknown units are rejected");

    is_int(time_of("1750500000"), 1750500000, "a time may be epoch seconds");
    is_int(time_of("2025-06-21"), 1750464000, "a date is its first second");
    is_int(time_of("2025-06-21T10:00"), 1750500000, "a date may have hours and minutes");
    is_int(time_of("2025-06-21T10:00:07"), 1750500007, "a date may have seconds");
    ok(time_of("2025-06-31") < 0 && time_of("2025-13-01") < 0 && time_of("2025-06-21T24:00") < 0 &&
           time_of("2025-6-21") < 0 && time_of("2025-06-21 10:00") < 0 &&
           time_of("2025-06-21T10") < 0,
       "invalid dates are rejected");
    return done_testing();
}
