/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_DB_H
#define FAIRMILL_DB_DB_H

#include "db/driver.h"

/* The port: all that fairmill asks of a database.  Each database that can do it has a driver, one
 * struct of functions; db/driver.h says what each of them does.
 *
 * SQL that passes through here means the same in every database: identifiers in
 * double quotes, texts in single quotes, `?` for each argument.  A session never
 * inherits what a server has set: each driver sets isolation, time limits and
 * character sets itself.  Texts are bytes; no driver converts a character. */

/* The drivers that this build has, ended by NULL, and the one of a name (NULL if none). */
extern const struct db_driver *const db_drivers[];
const struct db_driver *db_driver_named(const char *name);

/* login_file() of the settings' driver. */
char *db_login_file(const struct db_settings *settings);

/* What is wrong with tls_mode and tls_ca under the settings' driver; NULL: nothing. */
const char *db_tls_objection(const struct db_settings *settings);

/* Open a session with the driver that the settings name.  A login file that others than its owner
 * may write to is refused (ERROR_SETTINGS): they could lead us elsewhere. */
int db_open(struct db **db, const struct db_settings *settings, enum db_role role,
            struct error *err);
/* A text that tells this database from every other one, to be freed; NULL on failure. */
char *db_identity(struct db *db, struct error *err);
/* Whether there is a table or a view of this name that the session may read; -1 on failure. */
int db_has_table(struct db *db, const char *name, struct error *err);
/* Refuse (ERROR_DATA) a name that no table can have here. */
int db_check_table_name(const struct db *db, const char *name, struct error *err);
/* The functions of the session's driver; close, rollback and abandon take NULL.
 *
 * Who reads rows or writes in bulk may leave all checks to the end: a failure stays with the rows
 * or the bulk write, and NULL counts as one that failed at its beginning.  After a failure
 * db_fetch() and db_bulk_row() do nothing and return -1; db_finish() returns -1, and so does
 * db_bulk_end(), which then sends nothing more.  `err` says what failed first. */
void db_close(struct db *db);
int db_begin(struct db *db, struct error *err);
int db_commit(struct db *db, struct error *err);
int db_replica_lag(struct db *db, int64_t *lag_s, struct error *err);
void db_rollback(struct db *db);
struct db_rows *db_query(struct db *db, const char *sql, const struct db_value *arguments,
                         size_t argument_count, const char *column_types, struct error *err);
struct db_rows *db_stream(struct db *db, const char *sql, const struct db_value *arguments,
                          size_t argument_count, const char *column_types, struct error *err);
int db_fetch(struct db_rows *rows, const struct db_value **row, struct error *err);
int db_finish(struct db_rows *rows);
int db_execute(struct db *db, const char *sql, const struct db_value *arguments,
               size_t argument_count, int64_t *changed, struct error *err);
int db_script(struct db *db, const char *sql, struct error *err);
/* Have no wait for a lock last beyond `end_ms`, in clock_milliseconds(), by a second or more, and
 * none last longer than usual. */
int db_limit_waits(struct db *db, int64_t end_ms, struct error *err);
/* The name of a lock on something of this database, such as a cluster's results: a hash, since lock
 * names have little room, and all of a server may see them. */
#define DB_LOCK_NAME 32
int db_name_lock(struct db *db, const char *what, char name[DB_LOCK_NAME], struct error *err);
int db_lock(struct db *db, const char *name, struct error *err);
void db_unlock(struct db *db, const char *name);
struct db_bulk *db_bulk_begin(struct db *db, const char *table, const struct db_column *columns,
                              size_t column_count, size_t key_count, struct error *err);
int db_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
/* Send what is left, and free, also when that fails. */
int db_bulk_end(struct db_bulk *bulk, struct error *err);
/* Send nothing more, and free. */
void db_bulk_abandon(struct db_bulk *bulk);

/* Who is logged in, as GRANTs name it, to be freed; NULL where nobody is, or it cannot be asked. */
char *db_login(struct db *db);

/* Add `NAME = VALUE`, with commas between, for each variable of the server with which it can be no
 * accounting database of Slurm. */
int db_add_doubts(struct db *db, struct text *text, struct error *err);
/* Fails if there are result tables of an owner that this session is not, nor may be: what it added
 * would not be his. */
int db_be_owner(struct db *db, struct error *err);

/* Add what a DENIED error should say besides: add_grant() or add_role_grant() of the settings'
 * driver, or nothing. */
void db_add_role_grant(struct text *text, const struct db_settings *settings, const char *role);
void db_add_grant(struct text *text, const struct db_settings *settings, const char *privileges,
                  const char *const *columns, const char *table);

#endif
