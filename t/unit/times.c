/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <stdlib.h>
#include <time.h>

#include "util/times.h"
#include "util/text.h"

/* Sunday, 2026-11-22T19:03:35. */
#define NOW INT64_C(1795374215)

/* Returns the time that a text is read as, or "" if it is rejected. */
static const char *read_as(const char *given)
{
    static struct text text;
    int64_t time;
    text.length = 0;
    text_add(&text, "");
    if (time_read(given, NOW, &time))
        time_add(&text, time);
    return text.bytes;
}

/* Returns the name of a test: `given` in quotes, and `predicate`.  The next call overwrites it. */
static const char *statement(const char *given, const char *predicate)
{
    static struct text text;
    text.length = 0;
    text_format(&text, "'%s' %s", given, predicate);
    return text.bytes;
}

/* The times that sacct of Slurm 22.05 read from its option -S at NOW. */
static const struct {
    const char *given, *time;
} forms[] = {
    { "2026-11-01T10:00:05", "2026-11-01T10:00:05" },
    { "2026-11-01T10:00", "2026-11-01T10:00:00" },
    { "2026-11-01 10:00", "2026-11-01T10:00:00" },
    { "2026-11-01-10:00", "2026-11-01T10:00:00" },
    { "2026-11-1", "2026-11-01T00:00:00" },
    { "11/01/26", "2026-11-01T00:00:00" },
    { "11.01.26", "2026-11-01T00:00:00" },
    { "110126", "2026-11-01T00:00:00" },
    { "11/01", "2026-11-01T00:00:00" },
    { "1101", "2026-11-01T00:00:00" },
    { "1101-10:00", "2026-11-01T10:00:00" },
    { "12/25", "2025-12-25T00:00:00" },
    { "11/30", "2026-11-30T00:00:00" },
    { "11/01-10:00", "2026-11-01T10:00:00" },
    { "10:00:07 11/01/25", "2025-11-01T10:00:07" },
    { "7:30", "2026-11-22T07:30:00" },
    { "22:00", "2026-11-22T22:00:00" },
    { "10:00 PM", "2026-11-22T22:00:00" },
    { "12:00am", "2026-11-22T00:00:00" },
    { "12:30 pm", "2026-11-22T12:30:00" },
    { "midnight", "2026-11-22T00:00:00" },
    { "noon-11/01", "2026-11-01T12:00:00" },
    { "elevenses", "2026-11-22T11:00:00" },
    { "fika", "2026-11-22T15:00:00" },
    { "TeaTime", "2026-11-22T16:00:00" },
    { "today", "2026-11-22T00:00:00" },
    { "today 10:00", "2026-11-22T10:00:00" },
    { "tomorrow", "2026-11-23T00:00:00" },
    { "now", "2026-11-22T19:03:35" },
    { "now-3days", "2026-11-19T19:03:35" },
    { "now+1hour", "2026-11-22T20:03:35" },
    { "now + 90", "2026-11-22T19:05:05" },
    { "now-2weeks", "2026-11-08T19:03:35" },
    { "now-5minutes", "2026-11-22T18:58:35" },
    { "uts1761991200", "2025-11-01T10:00:00" },
};

int main(void)
{
    int64_t time;
    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        is_string(read_as(forms[i].given), forms[i].time,
                  statement(forms[i].given, "is read as sacct reads it"));
    is_string(read_as("1761991200"), "2025-11-01T10:00:00", "digits are epoch seconds");
    is_string(read_as("2026"), "1970-01-01T00:33:46",
              "four digits are epoch seconds if they are not a date");
    struct text bound = { 0 };
    is_int(time_read_bound("2026", NOW, &time), true, "a bound may be a year");
    time_add(&bound, time);
    is_string(bound.bytes, "2026-01-01T00:00:00", "a year as a bound means its first second");
    text_free(&bound);
    is_int(time_read_bound("1101", NOW, &time) && time > NOW - 30 * 86400, true,
           "a month and a day as a bound are not a year");
    is_string(read_as("1300"), "1970-01-01T00:21:40",
              "four digits that form no date are epoch seconds");
    is_string(read_as("253402300799"), "9999-12-31T23:59:59",
              "epoch seconds are accepted up to the year 9999");

    static const char *const wrong[] = {
        "",           "bogus",        "-5",
        "1e9",        "253402300800", "2026-02-30",
        "02/30/26",   "2026-13-01",   "24:00",
        "10:60",      "13:00 PM x",   "2026-11-01T10",
        "now-",       "now-3moons",   "now3",
        "nowadays",   "noonish",      "today today",
        "10:00 noon", "11/01/2026x",  "2026-11-01 11/01",
        "11/1/1",     "yesterday",    "1969-12-31",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(!time_read(wrong[i], NOW, &time), statement(wrong[i], "is rejected as a time"));

    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    ok(time_read("2026-07-01T10:00", NOW, &time) && time == 1782892800,
       "dates are read in the local time zone");
    is_string(read_as("2026-07-01T10:00"), "2026-07-01T10:00:00",
              "dates are written in the local time zone");
    return done_testing();
}
