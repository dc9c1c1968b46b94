/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_STARTED_H
#define FAIRMILL_DB_STARTED_H

#include <pthread.h>
#include <stdbool.h>

#include "db/driver.h"

/*
 * A statement in a session that a thread executes while the program does something else, because
 * not every client library has functions that do not block.  The session has at most one,
 * db->started.
 */

/* Starts a thread in which all signals are blocked, so that other threads handle them.  Returns
 * false on failure. */
bool db_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/*
 * Starts a statement that returns no rows.  Until db_started_finish() or db_started_abandon(),
 * nothing else may use the session, and the SQL and texts of arguments must stay valid.  If memory
 * runs out in the thread, the statement fails.
 */
void db_started_begin(struct db *db, const char *sql, const struct db_value *arguments,
                      size_t argument_count);

/*
 * Waits until the statement, if there is any, is done.  Returns -1 if it failed.  If no thread was
 * available, executes it now.
 */
int db_started_finish(struct db *db, struct error *err);

/* Waits until the thread ends.  Ignores a failure. */
void db_started_abandon(struct db *db);

#endif
