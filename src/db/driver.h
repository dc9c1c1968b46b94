/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_DRIVER_H
#define FAIRMILL_DB_DRIVER_H

#include "db/db.h"

struct text;

/* What drivers share, and nobody else needs. */

extern const struct db_driver mysql_driver;
extern const struct db_driver pgsql_driver;
extern const struct db_driver sqlite_driver;

extern const struct db_privileges mysql_privileges;
extern const struct db_privileges pgsql_privileges;

/* Add the GRANT for who may ask a replica how far it lags, of either server. */
void mysql_add_monitor_grant(struct text *text, const struct db_settings *settings, bool mariadb);

/* Tests clear it to write in bulk as with a library or a server that cannot bind arrays. */
extern bool mysql_binds_arrays;

/* Seconds that a wait for a lock, or for a connection, may last under this deadline. */
unsigned db_lock_wait(const struct db_settings *settings);
unsigned db_connect_wait(const struct db_settings *settings);

/* Seconds after which the client gives up by itself, 0: never.  The server ends a statement at the
 * deadline; only if it does not, because it hangs or the network is gone, we leave a little later.
 */
unsigned db_answer_wait(const struct db_settings *settings);

/* Seconds that a session of the results may be idle.  It idles for as long as the
 * source is read, which may take the deadline twice: the last try may begin when it is over.  Its
 * lock should not outlast for long a host that vanished. */
unsigned db_results_idle(const struct db_settings *settings);

/* Whether a text of the settings was given. */
bool db_given(const char *text);

/* Whether the settings lead to this machine, and by a way where the server is told by the operating
 * system who logs in. */
bool db_is_here(const struct db_settings *settings);
bool db_logs_in_by_socket(const struct db_settings *settings);

/* Add a text in single quotes. */
void db_add_literal(struct text *text, const char *value);

/* Make of a value, as the database holds it, one of the type that the query asked for.  Only
 * what is exactly of that type will do: '12' is an integer, '12x' and 1.5 are not. */
int db_value_fit(struct db_value *value, char type, const char *column, struct error *err);

/* Say that a row for a bulk write has a value that is not of its column's type. */
int db_value_misfit(const struct db_column *column, struct error *err);

/* Add `"a", "b"`. */
void db_add_columns(struct text *sql, const struct db_column *columns, size_t column_count);

/* Add what replaces stored rows, in the words of SQLite and PostgreSQL; nothing without a key. */
void db_add_on_conflict(struct text *sql, const struct db_column *columns, size_t column_count,
                        size_t key_count);

/* Add `INSERT INTO "table" ("a", "b") VALUES (?, ?), (?, ?)` with that many rows. */
void db_add_insert(struct text *sql, const char *table, const struct db_column *columns,
                   size_t column_count, size_t row_count);

#endif
