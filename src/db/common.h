/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_COMMON_H
#define FAIRMILL_DB_COMMON_H

#include "db/driver.h"

/* What drivers have in common, and nobody else needs. */

/* What a session with these settings begins with; its name is to be freed. */
struct db db_session(const struct db_settings *settings, enum db_role role);

/* Refuse a statement that takes another number of arguments than it was given, or a query that
 * answers with another number of columns than it was given types for. */
int db_check_arguments(const struct db *db, size_t wanted, size_t given, struct error *err);
int db_check_columns(const struct db *db, size_t count, const char *types, struct error *err);

/* Take a lock by a query that answers 1 where it has it. */
int db_lock_by_query(struct db *db, const char *sql, struct db_value key, const char *name,
                     struct error *err);

/* Of an answer that is not wanted any more, so many rows are read on before the server is told to
 * end it; most end before that. */
#define ROWS_TO_READ_ON 1000

/* Add `"a", "b"`. */
void db_add_columns(struct text *sql, const struct db_column *columns, size_t column_count);

/* Add `INSERT INTO "table" ("a", "b")`, and ` VALUES (?, ?), (?, ?)` with that many rows. */
void db_add_insert(struct text *sql, const struct db_bulk *bulk);
void db_add_values(struct text *sql, const struct db_bulk *bulk, size_t row_count);

/* Add what replaces stored rows, in the words of SQLite and PostgreSQL; nothing without a key. */
void db_add_on_conflict(struct text *sql, const struct db_bulk *bulk);

#endif
