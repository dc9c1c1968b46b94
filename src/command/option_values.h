/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_OPTION_VALUES_H
#define FAIRMILL_COMMAND_OPTION_VALUES_H

#include <stdint.h>

#include "util/name_list.h"

struct error;

/* The values of options (command/options.h). */

/* A time on the command line.  It is converted later, because the settings name the time zone. */
struct option_time {
    const char *text; /* as given, or NULL if the option is missing */
    int64_t at;       /* epoch seconds, set by options_read_times(); unchanged if `text` is NULL */
};

/*
 * Sets `*one` to the only name in the list, or to NULL if the list is empty.  Returns -1 with
 * ERROR_USAGE if the list has two different names; `what` is the option without its dashes.
 */
int option_list_one(const struct name_list *list, const char *what, const char **one,
                    struct error *err);

/* Returns the time, or the current time if the option is missing. */
int64_t option_time_or_now(const struct option_time *time);

/*
 * Converts the value of `option` to a whole number above 0; if `text` is NULL, `*count` is
 * unchanged.  Returns -1 with ERROR_USAGE if it is not such a number.
 */
int option_count(const char *option, const char *text, uint64_t *count, struct error *err);
/*
 * Converts a duration, or `fallback` if `text` is NULL, to seconds: above 0 and at most INT32_MAX.
 * Returns -1 with ERROR_USAGE if it is not such a duration.
 */
int option_duration(const char *option, const char *text, const char *fallback, uint64_t *seconds,
                    struct error *err);

/* A period by which rows are grouped. */
struct option_period {
    const char *name;
    int64_t (*end_of)(int64_t time); /* returns the end of the period that contains `time` */
};
/*
 * Returns the period `text`: month, week or day.  Returns NULL with ERROR_USAGE if it is another
 * text.
 */
const struct option_period *option_period(const char *option, const char *text, struct error *err);

#endif
