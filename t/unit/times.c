/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <stdlib.h>
#include <time.h>

#include "util/times.h"
#include "util/text.h"

/* Sunday, 2026-11-22T19:03:35. */
#define NOW INT64_C(1795374215)

/* Returns the time that a text is read as at `now`, or "" if it is rejected. */
static const char *read_at(const char *given, int64_t now)
{
    static struct text text;
    int64_t time;
    text.length = 0;
    text_add(&text, "");
    if (time_read(given, now, &time))
        time_add(&text, time);
    return text.bytes;
}

static const char *read_as(const char *given)
{
    return read_at(given, NOW);
}

static void set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

/* Returns the epoch seconds of a time in the current zone, or -1. */
static int64_t epoch_of(const char *given)
{
    int64_t time;
    return time_read(given, NOW, &time) ? time : -1;
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

/* Forms that Slurm does not have, and the first second of their period at NOW. */
static const struct {
    const char *given, *time;
} periods[] = {
    { "2026", "2026-01-01T00:00:00" },
    { "1970", "1970-01-01T00:00:00" },
    { "9999", "9999-01-01T00:00:00" },
    { "2026-11", "2026-11-01T00:00:00" },
    { "2024-2", "2024-02-01T00:00:00" },
    { "yesterday", "2026-11-21T00:00:00" },
    { "Yesterday 10:00", "2026-11-21T10:00:00" },
    { "this day", "2026-11-22T00:00:00" },
    { "last day", "2026-11-21T00:00:00" },
    { "this week", "2026-11-16T00:00:00" },
    { "last-week", "2026-11-09T00:00:00" },
    { "this-month", "2026-11-01T00:00:00" },
    { "LAST Month", "2026-10-01T00:00:00" },
    { "this quarter", "2026-10-01T00:00:00" },
    { "last  quarter", "2026-07-01T00:00:00" },
    { "this year", "2026-01-01T00:00:00" },
    { "last-YEAR", "2025-01-01T00:00:00" },
};

static void test_ends_of_periods(void)
{
    set_zone("UTC");
    is_string(read_at("last month", epoch_of("2026-03-31")), "2026-02-01T00:00:00",
              "the month before 31 March is February");
    is_string(read_at("last month", epoch_of("2027-01-31T23:59:59")), "2026-12-01T00:00:00",
              "the month before January is December");
    is_string(read_at("last quarter", epoch_of("2027-02-01")), "2026-10-01T00:00:00",
              "the quarter before the first one is in the previous year");
    is_string(read_at("this week", epoch_of("2027-01-01")), "2026-12-28T00:00:00",
              "a week may begin in the previous year");
    is_string(read_at("this week", epoch_of("2026-11-23")), "2026-11-23T00:00:00",
              "a week begins with the first second of Monday");
    is_string(read_at("this week", epoch_of("2026-11-22T23:59:59")), "2026-11-16T00:00:00",
              "a week ends with Sunday");
    is_string(read_at("yesterday", epoch_of("2024-03-01")), "2024-02-29T00:00:00",
              "29 February is the day before 1 March in a leap year");
    is_string(read_at("last day", 1000), "1970-01-01T00:00:00", "no period begins before 1970");
}

static void test_clock_changes(void)
{
    set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    int64_t summer = epoch_of("2026-03-30T10:00"), winter = epoch_of("2026-10-26T10:00");
    is_string(read_at("last week", summer), "2026-03-23T00:00:00",
              "the week in which clocks go forward begins at midnight");
    is_string(read_at("yesterday", summer), "2026-03-29T00:00:00",
              "the day on which clocks go forward begins at midnight");
    is_string(read_at("last week", winter), "2026-10-19T00:00:00",
              "the week in which clocks go back begins at midnight");
    is_int(epoch_of("2026-11") - epoch_of("2026-10"), 31 * 86400 + 3600,
           "the month in which clocks go back is an hour longer");
    is_int(epoch_of("1970"), 0, "1970 begins with the first second that is accepted");

    set_zone("<+03>-3<+04>,M4.1.5/0,M10.1.5/0");
    is_string(read_as("2025-04-04"), "2025-04-04T01:00:00",
              "if midnight is skipped, a date is the first second after the gap");
    is_string(read_at("this day", epoch_of("2025-04-04T12:00")), "2025-04-04T01:00:00",
              "if midnight is skipped, so is a day");
}

int main(void)
{
    int64_t time;
    set_zone("UTC");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        is_string(read_as(forms[i].given), forms[i].time,
                  statement(forms[i].given, "is read as sacct reads it"));
    is_string(read_as("1761991200"), "2025-11-01T10:00:00", "digits are epoch seconds");
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
        is_string(read_as(periods[i].given), periods[i].time,
                  statement(periods[i].given, "is the first second of its period"));
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
        "11/1/1",     "1899-01-01",   "1969-12-31",
        "1969-12",    "2026-0",       "2026-13",
        "2026-",      "2026-111",     "2026-11 10:00",
        "last",       "last month 2", "lastmonth",
        "this moon",  "last days",    "next month",
        "this",       "last_month",   "yesterdays",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(!time_read(wrong[i], NOW, &time), statement(wrong[i], "is rejected as a time"));

    set_zone("Europe/Berlin");
    ok(time_read("2026-07-01T10:00", NOW, &time) && time == 1782892800,
       "dates are read in the local time zone");
    is_string(read_as("2026-07-01T10:00"), "2026-07-01T10:00:00",
              "dates are written in the local time zone");
    test_ends_of_periods();
    test_clock_changes();
    return done_testing();
}
