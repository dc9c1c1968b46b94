/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_SQLITE_READ_AHEAD_H
#define FAIRMILL_DB_SQLITE_READ_AHEAD_H

#include <stddef.h>

struct db_value;
struct error;

/*
 * For a long result, a thread reads rows while the caller works on earlier rows, because SQLite has
 * no server process that could do so.  The thread fills the batches of a ring in turn, and the
 * caller empties them.  The faster of the two waits for the slower one.
 */
struct read_ahead;

/*
 * A function that adds all rows of a result.  It runs in the thread.  Returns 0 after the last row,
 * or -1 on error or after read_ahead_row() returned NULL.
 */
typedef int (*read_ahead_reader)(void *context, struct read_ahead *ahead, struct error *err);

/*
 * Starts the thread.  `types` are the types of the columns (db/value.h).  Until read_ahead_stop()
 * returns, only the thread may use `context`.  Returns NULL, and changes nothing, if there is only
 * one processor or the thread cannot be started.
 */
struct read_ahead *read_ahead_start(read_ahead_reader read, void *context, const char *types);

/*
 * These functions are for the reader.  read_ahead_row() returns the place for the values of the
 * next row, or NULL if the consumer has stopped.  read_ahead_add() adds the row at this place; it
 * copies the row's texts.  It waits while the ring is full.  Returns -1 on error or if the consumer
 * has stopped.
 */
struct db_value *read_ahead_row(struct read_ahead *ahead);
int read_ahead_add(struct read_ahead *ahead, struct error *err);

/*
 * For the consumer.  Returns 1 if it sets *row to the next row, 0 after the last row, or -1 on
 * error.  The row and its texts are valid until the next call.
 */
int read_ahead_next(struct read_ahead *ahead, const struct db_value **row, struct error *err);

/*
 * Waits until the reader returns, and frees `ahead`.  The caller may interrupt the reader first.
 * Accepts NULL.
 */
void read_ahead_stop(struct read_ahead *ahead);

#endif
