/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_LOG_H
#define FAIRMILL_UTIL_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct error;

/* What a run reports while it goes well: nothing, unless asked (-v).  All of it goes to stderr. */

void log_set_verbose(bool verbose);
bool log_is_verbose(void);
/* A line for -v. */
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line for everybody: what was done is not what the user may expect. */
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Progress of something long, on a terminal only: a line that is written over, first shown after
 * a second.  `what` is counted; call it as often as you like. */
void log_progress(const char *subject, uint64_t count, const char *what);
/* Wipe that line. */
void log_progress_done(void);

/* Milliseconds of a clock that nobody sets. */
int64_t clock_milliseconds(void);

/* The one place that prints errors, and keeps the status that the process exits with. */

/* Print an error on standard error, and keep its exit status if it is the first. */
void complain(const struct error *err);
/* Keep its exit status, without printing it. */
void keep_quiet_about(const struct error *err);
/* The exit status of the first error; 0: there was none. */
int first_failure(void);
/* Whoever was to know of the errors was told. */
void forget_failures(void);

#endif
