/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_LOG_H
#define FAIRMILL_UTIL_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct error;

/* Messages on standard error.  log_note() is silent unless -v is given. */

void log_set_verbose(bool verbose);
bool log_is_verbose(void);
/* Prints a line if -v is given. */
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a warning that a result may be unexpected. */
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Shows the progress of a long operation as `subject: count what`.  The line appears after a
 * second, only on a terminal, and is overwritten by the next call.  The function may be called at
 * any rate, because it prints at most four times a second.
 */
void log_progress(const char *subject, uint64_t count, const char *what);
/* Removes the progress line. */
void log_progress_done(void);

/* Returns the milliseconds of a monotonic clock, whose origin is arbitrary. */
int64_t clock_milliseconds(void);

/* Errors: their messages and the exit status of the process. */

/* Prints an error on standard error, and records its exit status if it is the first error. */
void complain(const struct error *err);
/* Records the exit status as complain() does, without printing a message. */
void keep_quiet_about(const struct error *err);
/* Returns the exit status of the first error, or 0 if there was no error. */
int first_failure(void);
/* Discards the recorded exit status, after another process was informed of the errors. */
void forget_failures(void);

#endif
