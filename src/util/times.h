/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_TIMES_H
#define FAIRMILL_UTIL_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct text;

/* Times are in epoch seconds; dates are in the process's time zone. */

/* The last second of the year 9999.  Later dates cannot be formatted. */
#define LATEST_TIME INT64_C(253402300799)

/*
 * Parses a time from 1970 to the year 9999.  Returns false if it is invalid.  Accepts the forms
 * that Slurm's commands accept, the form that time_add() writes, and periods:
 *
 *   2026-11-01[T10:00[:00]], 11/01[/26], 11.01[.26], 1101[26]     a date; default time: midnight
 *   10:00[:00] [AM|PM], midnight, noon, elevenses, fika, teatime  today, or on the given date
 *   yesterday, today, tomorrow, now, now-3days, now+90, uts1790000000, 1790000000
 *   2026, 2026-11, this month, last-week                          the first second of the period
 *
 * A space, a T or a minus separates date and time.  A date without a year is in the current year,
 * or in the previous year if its month is after the month of `now`.  Four digits of 1970 or more
 * are a year.  Other four or six digits alone are a date if they form one; other digits alone are
 * epoch seconds.
 */
bool time_read(const char *text, int64_t now, int64_t *time);

/*
 * Parses a time of the settings: epoch seconds, which may be negative, or
 * YYYY-MM-DD[THH:MM[:SS]].  Returns false if it is invalid.
 */
bool time_parse(const char *text, int64_t *epoch);

/* A time as all commands print it: YYYY-MM-DDTHH:MM:SS. */
struct instant_text {
    char bytes[32];
};
struct instant_text time_text(int64_t time);
struct instant_text time_day_text(int64_t time); /* the date only */
/* Append the time or its date to `text`. */
void time_add(struct text *text, int64_t time);
void time_add_day(struct text *text, int64_t time);

#endif
