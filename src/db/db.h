/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_DB_H
#define FAIRMILL_DB_DB_H

#include "db/driver.h"

/*
 * The database interface: everything that fairmill does with a database goes through it.  Each
 * supported database has a driver, a struct of functions; db/driver.h describes each function.
 *
 * SQL that is passed here has the same meaning in every database.  Identifiers are in double
 * quotes, texts in single quotes, and each argument is a `?`.  A session does not depend on the
 * server's configuration: each driver sets the isolation level, time limits and character sets
 * itself.  Texts are bytes; no driver converts a character.
 */

/* The drivers in this build, ended by NULL, and the driver with a given name, or NULL. */
extern const struct db_driver *const db_drivers[];
const struct db_driver *db_driver_named(const char *name);

/* Returns the result of login_file() of the settings' driver, or NULL.  The caller frees it. */
char *db_login_file(const struct db_settings *settings);

/*
 * Returns the reason why tls_mode and tls_ca do not fit each other or the settings' driver, or NULL
 * if they do.  The text is static.
 */
const char *db_tls_objection(const struct db_settings *settings);

/*
 * Opens a session with the driver that the settings name.  Fails with ERROR_SETTINGS if users other
 * than its owner may write to the login file: they could redirect the connection.
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
/* Fails with ERROR_DATA if no table can have this name in this database. */
int db_check_table_name(const struct db *db, const char *name, struct error *err);
/*
 * These functions call the session's driver.  db_close(), db_rollback() and db_bulk_abandon()
 * accept NULL.
 *
 * A caller that reads rows or writes in bulk may postpone all checks to the end.  A failure stays
 * with the rows or the bulk write, and NULL counts as failed from the start.  After a failure
 * db_fetch() and db_bulk_row() do nothing and return -1.  db_finish() and db_bulk_end() then return
 * -1, and db_bulk_end() sends nothing more.  `err` holds the first failure.
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
int db_script(struct db *db, const char *sql, struct error *err);
/*
 * Shortens the lock timeout, so that a wait ends at most a second after `end_ms`, in
 * clock_milliseconds().  Never sets it above db_lock_wait() or below a second.  Must be called
 * outside of transactions.
 */
int db_limit_waits(struct db *db, int64_t end_ms, struct error *err);
/*
 * Writes the name of a lock on an object of this database, such as a cluster's results, to `name`.
 * The name is a hash, because lock names are short and visible to all users of a server.
 */
#define DB_LOCK_NAME 32
int db_name_lock(struct db *db, const char *what, char name[DB_LOCK_NAME], struct error *err);
int db_lock(struct db *db, const char *name, struct error *err);
void db_unlock(struct db *db, const char *name);
struct db_bulk *db_bulk_begin(struct db *db, const char *table, const struct db_column *columns,
                              size_t column_count, size_t key_count, struct error *err);
int db_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
/* Sends the remaining rows and frees `bulk`, also on failure. */
int db_bulk_end(struct db_bulk *bulk, struct error *err);
/* Frees `bulk` without sending anything more. */
void db_bulk_abandon(struct db_bulk *bulk);

/*
 * Returns the account of this session as GRANT names it; the caller frees it.  Returns NULL if the
 * database has no accounts or the query fails.
 */
char *db_login(struct db *db);

/*
 * Adds `NAME = VALUE`, separated by commas, for each server variable whose value rules the server
 * out as a host of Slurm's accounting database.
 */
int db_add_doubts(struct db *db, struct text *text, struct error *err);
/*
 * Fails with ERROR_DENIED if the result tables have an owner whose role this session does not have.
 * Anything that the session added to them would belong to another role.
 */
int db_be_owner(struct db *db, struct error *err);

/*
 * Add the GRANT that the message of an ERROR_DENIED should recommend: add_grant() or
 * add_role_grant() of the settings' driver.  For a driver without privileges they add nothing.
 */
void db_add_role_grant(struct text *text, const struct db_settings *settings, const char *role);
void db_add_grant(struct text *text, const struct db_settings *settings, const char *privileges,
                  const char *const *columns, const char *table);

#endif
