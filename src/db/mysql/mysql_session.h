/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_MYSQL_MYSQL_SESSION_H
#define FAIRMILL_DB_MYSQL_MYSQL_SESSION_H

#include <mysql.h>

#include "db/common.h"

/*
 * Shared by the files of the mysql driver.  Each file calls functions only of files that are listed
 * above it:
 *
 *   - mysql_statement.c: errors and statements
 *   - mysql_connect.c: connections and TLS
 *   - mysql_rows.c: streams query results
 *   - mysql_bulk.c: bulk writes
 *   - mysql.c: setup, transactions, locks and lag
 *
 * The client library uses the prefix `mysql_`, so most functions here have the prefix `session_`.
 */

/*
 * The type of MYSQL_BIND's flags: char in MariaDB's library and in MySQL's before 8.0, else bool.
 */
#ifdef HAVE_MY_BOOL
typedef my_bool mysql_flag;
#else
typedef bool mysql_flag;
#endif

struct mysql_session {
    struct db base;
    MYSQL *mysql;
    size_t packet_bytes; /* maximum length of a statement that the server accepts */
    unsigned last_error; /* number of the last error, for callers that can handle it */
    /* The server is a node of a Galera cluster, where a commit fails if it conflicts with a commit
     * on another node. */
    bool is_galera;
    bool in_transaction; /* a transaction has begun and has not ended */
    bool stuck;          /* in a transaction that could not be rolled back */
    /* The server has a separate timeout for idle transactions (MySQL does not). */
    bool idle_is_limited;
};

/*
 * Store the last error of the connection or the statement in `err`, with the error class for its
 * number.  Return -1.
 */
int session_fail_connection(struct mysql_session *session, struct error *err);
int session_fail_statement(struct mysql_session *session, MYSQL_STMT *statement, struct error *err);

/*
 * Returns a prepared statement, or NULL on failure.  The caller closes it with mysql_stmt_close().
 */
MYSQL_STMT *session_prepare(struct mysql_session *session, const char *sql, struct error *err);
/* Executes a prepared statement with these arguments. */
int session_send(struct mysql_session *session, MYSQL_STMT *statement,
                 const struct db_value *arguments, size_t argument_count, struct error *err);

/*
 * Prepares and executes a statement that returns no rows.  Sets *changed (may be NULL) to the
 * number of rows that it found or inserted.
 */
int session_execute(struct db *db, const char *sql, const struct db_value *arguments,
                    size_t argument_count, int64_t *changed, struct error *err);
/*
 * The first runs one statement without arguments that returns no rows.  The second runs a script,
 * and chooses a definer for its views.
 */
int session_run(struct mysql_session *session, const char *sql, struct error *err);
int session_script(struct db *db, const char *sql, struct error *err);

/* Executes a prepared statement with `count` parameters.  Frees `parameters`. */
int session_send_parameters(struct mysql_session *session, MYSQL_STMT *statement,
                            MYSQL_BIND *parameters, size_t count, struct error *err);

/*
 * Connects and logs in, with the settings' TLS mode, but does not set the session's variables.
 * Returns NULL on failure.
 */
struct mysql_session *session_connect(const struct db_settings *settings, enum db_role role,
                                      struct error *err);
void session_close(struct db *db);

/* Makes the server end the query in progress, through a second connection.  Ignores failures. */
void session_cancel(struct mysql_session *session);

struct db_rows *session_query(struct db *db, const struct db_question *question, struct error *err);
int session_fetch(struct db_rows *rows, const struct db_value **row, struct error *err);
void session_finish(struct db_rows *rows);

struct db_bulk *session_bulk_begin(const struct db_bulk *target, struct error *err);
int session_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
int session_bulk_send(struct db_bulk *bulk, struct error *err);
void session_bulk_free(struct db_bulk *bulk);

#endif
