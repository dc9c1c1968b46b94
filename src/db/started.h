/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_STARTED_H
#define FAIRMILL_DB_STARTED_H

#include <pthread.h>
#include <stdbool.h>

#include "db/driver.h"

/*
 * Work in a session that a thread does while the program does something else, because not every
 * client library has functions that do not block.  The session has at most one piece of work,
 * db->started.
 */

/* Returns -1 on error. */
typedef int db_work(void *context, struct error *err);

/* Starts a thread in which all signals are blocked, so that other threads handle them.  Returns
 * false on failure. */
bool db_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/*
 * Starts the work.  Until db_started_finish() or db_started_abandon(), nothing else may use the
 * session, and `context` must stay valid.  If memory runs out in the thread, the work fails.
 */
void db_started_begin(struct db *db, db_work *work, void *context);

/* The same for a statement that returns no rows.  The SQL and texts of arguments must stay valid.
 */
void db_started_execute(struct db *db, const char *sql, const struct db_value *arguments,
                        size_t argument_count);

/*
 * Waits until the work, if there is any, is done.  Returns -1 if it failed.  If no thread was
 * available, does the work now.
 */
int db_started_finish(struct db *db, struct error *err);

/* Waits until the thread ends.  Ignores a failure. */
void db_started_abandon(struct db *db);

#endif
