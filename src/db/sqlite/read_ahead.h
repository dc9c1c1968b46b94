/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_SQLITE_READ_AHEAD_H
#define FAIRMILL_DB_SQLITE_READ_AHEAD_H

#include <stddef.h>

struct db_value;
struct error;

/* A thread that fetches rows while those before are worked on, for a client library that does the
 * database's work itself.  Rows wait in a ring of some hundred kilobytes.  Whichever side is
 * ahead waits for the other. */

/* As a driver's fetch(): 1 and *row, which holds until the next call; 0 after the last row; -1. */
typedef int (*row_reader)(void *context, const struct db_value **row, struct error *err);

/* From here on only the thread calls `read`, and touches what that uses, until read_ahead_stop().
 * NULL where there can be no thread, or there is but one processor: then nothing has changed. */
struct read_ahead *read_ahead_start(row_reader read, void *context, size_t columns);
/* As `read`, whose rows come in their order, and its error behind them. */
int read_ahead_next(struct read_ahead *ahead, const struct db_value **row, struct error *err);
/* The thread ends after the call of `read` that is under way; the caller may interrupt that call.
 * Takes NULL. */
void read_ahead_stop(struct read_ahead *ahead);

#endif
