/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_DB_H
#define FAIRMILL_DB_DB_H

#include "db/driver.h"

/*
 * The database interface.  Everything that fairmill does with a database goes through these
 * functions.  Each supported database system has a driver, a struct of functions; db/driver.h
 * describes each function.
 *
 * SQL that is passed to these functions has the same meaning in every database system.  Identifiers
 * are in double quotes, texts in single quotes, and each argument is a `?`.  A session does not
 * depend on the server's configuration: each driver sets the isolation level, time limits and
 * character sets itself.  Texts are bytes; no driver converts a character.
 */

/* The drivers in this build, ended by NULL, and the driver with a given name, or NULL. */
extern const struct db_driver *const db_drivers[];
const struct db_driver *db_driver_named(const char *name);

/* Returns the result of login_file() of the settings' driver, or NULL.  The caller frees it. */
char *db_login_file(const struct db_settings *settings);

/*
 * Returns the reason why tls_mode and tls_ca contradict each other, or why the settings' driver
 * cannot provide them.  Returns NULL if there is no such reason.  The text is static.
 */
const char *db_tls_objection(const struct db_settings *settings);

/*
 * Opens a session with the driver that the settings name.  Fails with ERROR_SETTINGS if the build
 * lacks this driver, if its module is not installed (db/module.h), or if other users than the owner
 * may write to the login file.  Such users could redirect the connection.
 */
int db_open(struct db **db, const struct db_settings *settings, enum db_role role,
            struct error *err);
/*
 * Returns a text that identifies this database among all others; the caller frees it.  Returns NULL
 * on failure.
 */
char *db_identity(struct db *db, struct error *err);
/*
 * Returns 1 if a table or view of this name exists and the session may read it, else 0.  Returns -1
 * on failure.
 */
int db_has_table(struct db *db, const char *name, struct error *err);
/* Fails with ERROR_DATA if this database system does not allow a table of this name. */
int db_check_table_name(const struct db *db, const char *name, struct error *err);
/*
 * These functions call the session's driver.  db_close(), db_rollback() and db_bulk_abandon()
 * accept NULL.
 *
 * A caller that reads rows or writes in bulk may check for errors only at the end.  The rows or the
 * bulk write record a failure, and NULL is treated as failed.  After a failure, db_fetch() and
 * db_bulk_row() do nothing and return -1.  db_finish() and db_bulk_end() also return -1, and
 * db_bulk_end() sends no more rows.  `err` describes the first failure.
 */
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
/*
 * Starts a statement that returns no rows, and returns while the database runs it.  The next call
 * that uses the session waits for the statement, and fails if the statement failed.  db_rollback()
 * and db_close() wait and ignore a failure.  The SQL and texts of arguments must stay valid until
 * then.
 */
int db_start(struct db *db, const char *sql, const struct db_value *arguments,
             size_t argument_count, struct error *err);
int db_script(struct db *db, const char *sql, struct error *err);
/*
 * Sets the lock timeout so that no wait for a lock ends much later than `end_ms`, in
 * clock_milliseconds().  The timeout is the time until `end_ms`, rounded up to a second.  It is at
 * least 1 second and at most db_lock_wait().  Must be called outside of transactions.
 */
int db_limit_waits(struct db *db, int64_t end_ms, struct error *err);
/*
 * Sets `name` to the name of the lock that protects an object of this database.  `what` describes
 * the object, such as a cluster's results.  The name is a hash, because servers limit the length of
 * lock names and show the names to all users.
 */
#define DB_LOCK_NAME 32
int db_name_lock(struct db *db, const char *what, char name[DB_LOCK_NAME], struct error *err);
int db_lock(struct db *db, const char *name, struct error *err);
void db_unlock(struct db *db, const char *name);
struct db_bulk *db_bulk_begin(struct db *db, const char *table, const struct db_column *columns,
                              size_t column_count, size_t key_count, struct error *err);
int db_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
/* Sends the remaining rows.  Frees `bulk`, even on failure. */
int db_bulk_end(struct db_bulk *bulk, struct error *err);
/* Frees `bulk` and sends no more rows. */
void db_bulk_abandon(struct db_bulk *bulk);

/*
 * Returns the login of this session in the form that GRANT uses; the caller frees it.  Returns
 * NULL if the database system has no logins (SQLite) or the query fails.
 */
char *db_login(struct db *db);

/*
 * Adds `NAME = VALUE`, separated by commas, for each server variable whose value makes the server
 * unsuitable for Slurm's accounting database.
 */
int db_add_doubts(struct db *db, struct text *text, struct error *err);
/*
 * Fails with ERROR_DENIED if the result tables belong to a role of which this session's login is
 * not a member.  Objects that the session added to the tables would belong to a different role.
 */
int db_be_owner(struct db *db, struct error *err);

/*
 * Add the GRANT that the message of an ERROR_DENIED recommends, with add_role_grant() or
 * add_grant() of the settings' driver.  Add nothing if the database system has no privileges
 * (SQLite).
 */
void db_add_role_grant(struct text *text, const struct db_settings *settings, const char *role);
void db_add_grant(struct text *text, const struct db_settings *settings, const char *privileges,
                  const char *const *columns, const char *table);

#endif
