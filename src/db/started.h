/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_STARTED_H
#define FAIRMILL_DB_STARTED_H

#include "db/driver.h"

struct error;

/*
 * A statement that the database runs while the program does something else.  A thread executes it,
 * because not every client library has functions that do not block.
 */
struct db_started;

/*
 * Starts a statement that returns no rows.  The caller must not use the session until
 * started_finish(), and the SQL and texts of arguments must stay valid until then.
 */
struct db_started *started_begin(struct db *db, const char *sql, const struct db_value *arguments,
                                 size_t argument_count);

/*
 * Waits until the statement ends, and frees `started`.  Returns -1 if the statement failed.  If no
 * thread was available, runs the statement now.
 */
int started_finish(struct db_started *started, struct error *err);

/* Waits until the statement ends, and frees `started`.  Ignores a failure.  Accepts NULL. */
void started_abandon(struct db_started *started);

#endif
