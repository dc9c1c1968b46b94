/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_TIMES_H
#define FAIRMILL_UTIL_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct text;

/* Instants are epoch seconds; dates are in the process's time zone. */

/* The last second of the year 9999: later dates have no form. */
#define LATEST_TIME INT64_C(253402300799)

/* Read an instant from 1970 up to the year 9999, in any form that Slurm's commands take, and what
 * time_add() prints:
 *
 *   2026-11-01[T10:00[:00]], 11/01[/26], 11.01[.26], 1101[26]  a date, with a time or at midnight
 *   10:00[:00] [AM|PM], midnight, noon, elevenses, fika, teatime  today, or on the date beside it
 *   today, tomorrow, now, now-3days, now+90, uts1790000000, 1790000000
 *
 * Between date and time stands a blank, a T or a minus.  A date without a year is the last one that
 * is not in a later month than `now`.  Digits alone are epoch seconds, but for four or six of them
 * that are a date. */
bool time_read(const char *text, int64_t now, int64_t *time);

/* Reads a bound of a period: the same, but four digits from 1970 on are a year, and mean its first
 * second. */
bool time_read_bound(const char *text, int64_t now, int64_t *time);

/* An instant as all our commands print it: YYYY-MM-DDTHH:MM:SS. */
struct instant_text {
    char bytes[32];
};
struct instant_text time_text(int64_t time);
struct instant_text time_day_text(int64_t time); /* its date only */
/* Add it, or its date, to a text. */
void time_add(struct text *text, int64_t time);
void time_add_day(struct text *text, int64_t time);

#endif
