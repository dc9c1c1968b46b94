/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_COMMON_H
#define FAIRMILL_DB_COMMON_H

#include "db/driver.h"

/* Functions that the drivers share.  Only drivers include this header. */

/*
 * Returns the common part of a session.  `settings` must outlive the session.  The driver frees the
 * session's `name`.
 */
struct db db_session(const struct db_settings *settings, enum db_role role);

/*
 * The first fails with ERROR_OTHER unless a statement with `wanted` parameters was given exactly as
 * many arguments.  The second fails with ERROR_OTHER unless `count`, a query's number of columns,
 * is the number of letters in `types`.
 */
int db_check_arguments(const struct db *db, size_t wanted, size_t given, struct error *err);
int db_check_columns(const struct db *db, size_t count, const char *types, struct error *err);

/*
 * Takes a lock with a query that returns 1 on success.  `key` is the query's argument, and `name`
 * is the lock's name for the message.  Fails with ERROR_LOCKED if the query returns anything else.
 */
int db_lock_by_query(struct db *db, const char *sql, struct db_value key, const char *name,
                     struct error *err);

/*
 * If db_finish() ends a query before its last row, the driver reads at most this many further rows.
 * If even more rows remain, the driver cancels the query on the server.  Few queries have that many
 * rows left.
 */
#define ROWS_TO_READ_ON 1000

/* Adds the names of the columns, for example `"a", "b"`. */
void db_add_columns(struct text *sql, const struct db_column *columns, size_t column_count);

/*
 * The first adds `INSERT INTO "table" ("a", "b")`.  The second adds ` VALUES (?, ?), (?, ?)` with
 * `row_count` rows.
 */
void db_add_insert(struct text *sql, const struct db_bulk *bulk);
void db_add_values(struct text *sql, const struct db_bulk *bulk, size_t row_count);

/*
 * Adds the clause that makes an INSERT replace stored rows with the same key, in the syntax of
 * SQLite and PostgreSQL.  Adds nothing for a bulk write without a key.
 */
void db_add_on_conflict(struct text *sql, const struct db_bulk *bulk);

#endif
