/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_RETRY_H
#define FAIRMILL_RUN_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct db;
struct error;
struct settings;

/* Waiting for databases that may come back: a server that starts again, a transaction that was sent
 * back. */

/* The tries at one thing.  All things that are done for a cluster end by the same instant, in
 * clock_milliseconds(). */
struct retry {
    int64_t end_ms;
    int64_t last_pause_ms;
};

/* When what begins now must have ended. */
int64_t deadline_of(const struct settings *settings);
/* The same before anything is done, when there is less to lose by giving up: the next run is not
 * far. */
int64_t starting_deadline_of(const struct settings *settings);

/* Whether it is worth another try; if so, after a pause. */
bool try_again(struct retry *retry, const struct error *err);

/* Open a database, trying again until the deadline where it is a server that is down. */
int open_source(struct db **source, const struct settings *settings, int64_t deadline,
                struct error *err);
int open_results(struct db **results, const struct settings *settings, int64_t deadline,
                 struct error *err);

#endif
