/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_CLOCK_H
#define FAIRMILL_UTIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct error;

/*
 * The clock of the calendar.  All code that needs the current time asks this clock, so that the
 * demonstration and tests can fix it.  Durations and deadlines use clock_milliseconds() instead.
 */

/*
 * Stops the clock at the time in the environment variable FAIRMILL_NOW, if it is set: epoch
 * seconds, or YYYY-MM-DDTHH:MM:SSZ.  Returns -1 if its value is invalid.
 */
int clock_begin(struct error *err);

/* Returns the current time in epoch seconds, or the time at which the clock was stopped. */
int64_t clock_now(void);

/* Returns true if clock_begin() stopped the clock. */
bool clock_is_stopped(void);

#endif
