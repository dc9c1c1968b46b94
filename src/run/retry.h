/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_RETRY_H
#define FAIRMILL_RUN_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct db;
struct error;
struct settings;

/*
 * Repeats operations that failed because a database was not available or rolled a transaction back.
 */

/*
 * The attempts at one operation.  All operations for a cluster share one deadline, in
 * clock_milliseconds().
 */
struct retry {
    int64_t end_ms;
    int64_t last_pause_ms;
};

/* Returns the deadline of an operation that begins now. */
int64_t deadline_of(const struct settings *settings);
/*
 * Returns an earlier deadline for operations before the work of a run begins.  If such an operation
 * fails, little is lost, because the next run starts soon.
 */
int64_t starting_deadline_of(const struct settings *settings);

/* Returns true, after a pause, if another attempt may succeed before the deadline. */
bool try_again(struct retry *retry, const struct error *err);

/* Opens a database.  Retries until the deadline if its server is down.  Returns -1 on error. */
int open_source(struct db **source, const struct settings *settings, int64_t deadline,
                struct error *err);
int open_results(struct db **results, const struct settings *settings, int64_t deadline,
                 struct error *err);

#endif
