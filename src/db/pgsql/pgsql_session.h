/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_PGSQL_PGSQL_SESSION_H
#define FAIRMILL_DB_PGSQL_PGSQL_SESSION_H

#include <libpq-fe.h>

#include "db/common.h"

/*
 * Shared by the files of the pgsql driver.  Each file calls functions only of files that are listed
 * above it:
 *
 *   - pgsql_statement.c: sends statements, waits, reports errors
 *   - pgsql_connect.c: sessions
 *   - pgsql_rows.c: streams query results
 *   - pgsql_bulk.c: bulk writes
 *   - pgsql.c: transactions, locks and lag
 *
 * The connection is in libpq's non-blocking mode, and only pgsql_wait() waits.  So neither a server
 * nor a network can delay fairmill beyond the deadline.  Functions of libpq that wait, such as
 * PQexec() and PQcancel(), must not be called.
 */

/*
 * Type OIDs, which are the same in every server.  The header that names them is part of the
 * server's sources.
 */
enum {
    PGSQL_BOOL = 16,
    PGSQL_BYTEA = 17,
    PGSQL_INT8 = 20,
    PGSQL_INT2 = 21,
    PGSQL_INT4 = 23,
    PGSQL_TEXT = 25,
    PGSQL_FLOAT4 = 700,
    PGSQL_FLOAT8 = 701,
    PGSQL_VARCHAR = 1043,
    PGSQL_NUMERIC = 1700,
};

enum { PGSQL_AS_TEXT = 0, PGSQL_AS_BINARY = 1 };

struct pgsql_session {
    struct db base;
    PGconn *connection;
    /* When the wait for the reply to the last message ends, in clock_milliseconds(). */
    int64_t until_ms;
    /* The server did not reply in time, or libpq could not continue.  The session can only be
     * closed. */
    bool hung;
};

/* Stores the error of a result, or of the connection if `result` is NULL, in `err`.  Returns -1. */
int pgsql_fail(struct pgsql_session *session, const PGresult *result, struct error *err);
/*
 * Stores the error of a connection that was not established in `err`.  Returns -1.  If
 * `options_are_wrong` is true, an error without SQLSTATE has the class ERROR_SETTINGS, unless the
 * server requested a password.
 */
int pgsql_fail_connecting(struct pgsql_session *session, bool options_are_wrong, struct error *err);

/*
 * Waits until the socket is readable or writable (POLLIN, POLLOUT).  Returns false if that did not
 * happen before `until_ms`, in clock_milliseconds().
 */
bool pgsql_wait(PGconn *connection, short events, int64_t until_ms);

/* Sends one statement with a `?` for each argument. */
int pgsql_send(struct pgsql_session *session, const char *sql, const struct db_value *arguments,
               size_t argument_count, struct error *err);
/*
 * Requests a description of a query with an integer for each `?`.  The next result has the query's
 * columns and no rows.
 */
int pgsql_send_describe(struct pgsql_session *session, const char *sql, size_t argument_count,
                        struct error *err);
/*
 * The first sends a COPY of a query's rows, with an integer for each `?`; `integers` may be NULL if
 * the query has no `?`.  The second sends one or more statements without arguments.
 */
int pgsql_send_copy(struct pgsql_session *session, const char *sql, const struct db_value *integers,
                    struct error *err);
int pgsql_send_script(struct pgsql_session *session, const char *sql, struct error *err);
/*
 * Arguments in libpq's form, for statements with $1, $2, ...  pgsql_parameters_free() does not free
 * the values; the caller does.
 */
struct pgsql_parameters {
    size_t count;
    Oid *types;
    const char **values;
    int *lengths, *formats;
};
struct pgsql_parameters pgsql_parameters_create(size_t count);
void pgsql_parameters_free(struct pgsql_parameters *parameters);
int pgsql_send_parameters(struct pgsql_session *session, const char *sql,
                          const struct pgsql_parameters *parameters, struct error *err);
/*
 * Returns the next line of the COPY in progress; the caller frees it with PQfreemem().  Returns
 * NULL after the last line and on failure; the next result shows which of these happened.
 */
char *pgsql_next_line(struct pgsql_session *session);
/* Returns the next result.  Returns NULL after the last result, or if the server does not reply. */
PGresult *pgsql_next(struct pgsql_session *session);
/* Reads and discards the remaining results, including errors. */
void pgsql_pass_over(struct pgsql_session *session);
/*
 * Reads and discards all results.  Fails if the statement failed.  Sets *changed (may be NULL) to
 * the number of affected rows.
 */
int pgsql_end(struct pgsql_session *session, int64_t *changed, struct error *err);
/* Sends a script and reads its results with pgsql_end(). */
int pgsql_run(struct pgsql_session *session, const char *sql, struct error *err);

/* Returns a text with the time in milliseconds.  The text is stored in `digits`. */
struct db_value pgsql_milliseconds(char digits[24], unsigned seconds);

struct db *pgsql_open(const struct db_settings *settings, enum db_role role, struct error *err);
void pgsql_close(struct db *db);

/*
 * Makes the server end the statement in progress, and discards its results.  An open transaction
 * afterwards accepts only a rollback, completely or to its last savepoint.
 */
void pgsql_cancel(struct pgsql_session *session);

int pgsql_execute(struct db *db, const char *sql, const struct db_value *arguments,
                  size_t argument_count, int64_t *changed, struct error *err);
int pgsql_script(struct db *db, const char *sql, struct error *err);

struct db_rows *pgsql_query(struct db *db, const struct db_question *question, struct error *err);
int pgsql_fetch(struct db_rows *rows, const struct db_value **row, struct error *err);
void pgsql_finish(struct db_rows *rows);

struct db_bulk *pgsql_bulk_begin(const struct db_bulk *target, struct error *err);
int pgsql_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
int pgsql_bulk_send(struct db_bulk *bulk, struct error *err);
void pgsql_bulk_free(struct db_bulk *bulk);

#endif
