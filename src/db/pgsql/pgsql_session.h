/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_PGSQL_PGSQL_SESSION_H
#define FAIRMILL_DB_PGSQL_PGSQL_SESSION_H

#include <libpq-fe.h>

#include "db/common.h"

/* What the files of the pgsql driver share, each of which calls only files named before it:
 * pgsql_statement.c (sending, waiting, errors), pgsql_connect.c (sessions), pgsql_rows.c (streaming
 * an answer), pgsql_ranges.c, pgsql_bulk.c (bulk writes) and pgsql.c (transactions, locks, lag).
 *
 * The connection is in libpq's non-blocking mode, and there is one place that waits, so that
 * neither a server nor a network can delay us beyond the deadline.  Functions of libpq that wait by
 * themselves, as PQexec() and PQcancel() do, are not called. */

/* Types by the numbers that every server gives them; the header with their names belongs to the
 * server's own sources. */
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
    int64_t until_ms; /* when we give up what was sent last, in clock_milliseconds() */
    bool hung;        /* gave no answer in time, or one that memory has no room for, and can
                         only be closed */
};

/* Store the error of a result, or with NULL that of the connection; returns -1. */
int pgsql_fail(struct pgsql_session *session, const PGresult *result, struct error *err);
/* The same of a connection that was never made. */
int pgsql_fail_connecting(struct pgsql_session *session, bool options_are_wrong, struct error *err);

/* Wait until the socket can be read or written (POLLIN, POLLOUT); whether that came before
 * `until_ms`, in clock_milliseconds(). */
bool pgsql_wait(PGconn *connection, short events, int64_t until_ms);

/* Send a statement with `?` for each argument, or several statements without any. */
int pgsql_send(struct pgsql_session *session, const char *sql, const struct db_value *arguments,
               size_t argument_count, struct error *err);
/* Have a query described, with an integer for each `?`: the next result has its columns and no row.
 */
int pgsql_send_describe(struct pgsql_session *session, const char *sql, size_t argument_count,
                        struct error *err);
/* Have its rows copied out, with an integer for each `?`; `sql` without any may have none. */
int pgsql_send_copy(struct pgsql_session *session, const char *sql, const struct db_value *integers,
                    struct error *err);
int pgsql_send_script(struct pgsql_session *session, const char *sql, struct error *err);
/* The same with $1, $2, ... for arguments as libpq takes them. */
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
/* The next line of the COPY that is under way, to be freed by PQfreemem(); NULL after
 * the last one, or where there is none for another reason, which the next result tells. */
char *pgsql_next_line(struct pgsql_session *session);
/* The next result of what was sent; NULL after the last one, or where there is no answer. */
PGresult *pgsql_next(struct pgsql_session *session);
/* Take results up to the last one, which tell nothing any more. */
void pgsql_pass_over(struct pgsql_session *session);
/* Read the answer to its end and throw it away; fails where the statement did.  `changed` (may
 * be NULL) becomes the number of rows it hit. */
int pgsql_end(struct pgsql_session *session, int64_t *changed, struct error *err);
/* Send and end. */
int pgsql_run(struct pgsql_session *session, const char *sql, struct error *err);

/* A text of digits, which lie in `digits`. */
struct db_value pgsql_milliseconds(char digits[24], unsigned seconds);

struct db *pgsql_open(const struct db_settings *settings, enum db_role role, struct error *err);
void pgsql_close(struct db *db);

/* Have the server stop what it is still answering, and read on until it did.  An open
 * transaction is in an error after that, up to its last savepoint. */
void pgsql_cancel(struct pgsql_session *session);

int pgsql_execute(struct db *db, const char *sql, const struct db_value *arguments,
                  size_t argument_count, int64_t *changed, struct error *err);
int pgsql_script(struct db *db, const char *sql, struct error *err);

struct db_rows *pgsql_query(struct db *db, const struct db_question *question, struct error *err);
int pgsql_fetch(struct db_rows *rows, const struct db_value **row, struct error *err);
void pgsql_finish(struct db_rows *rows);

/* Between which values the keys of many rows lie, so that a statement about these rows reads that
 * part of the table and not all of it. */
struct pgsql_range {
    bool begun; /* a row was noted */
    bool open;  /* the column has no range: texts differ, or a value is no integer */
    int64_t least, most;
    char *text; /* of a column of texts, which is the same in all rows; else NULL */
};

/* Widen the ranges, one for each column of the key, by the key of a row. */
void pgsql_ranges_note(struct pgsql_range *ranges, size_t count, const struct db_value *key);
/* Add a condition to a statement for each column whose range is known: ` AND table.column = ?` if
 * there is one value (an index then goes on with the next column), else BETWEEN ? AND ?.
 * `arguments` has room for two a column, and points into the ranges afterwards.  Returns how many
 * there are. */
size_t pgsql_ranges_add(const struct pgsql_range *ranges, const struct db_bulk *bulk,
                        struct text *sql, struct db_value *arguments);
void pgsql_ranges_free(struct pgsql_range *ranges, size_t count);

struct db_bulk *pgsql_bulk_begin(const struct db_bulk *target, struct error *err);
int pgsql_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
int pgsql_bulk_send(struct db_bulk *bulk, struct error *err);
void pgsql_bulk_free(struct db_bulk *bulk);

#endif
