/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_MYSQL_MYSQL_SESSION_H
#define FAIRMILL_DB_MYSQL_MYSQL_SESSION_H

#include <mysql.h>

#include "db/common.h"

/* What the files of the mysql driver share, each of which calls only files named before it:
 * mysql_statement.c (errors and statements), mysql_connect.c (with encryption), mysql_rows.c
 * (streaming an answer), mysql_bulk.c (bulk writes) and mysql.c (set-up, transactions, locks, lag).
 * The client library owns the names `mysql_...`, so functions here are called after the session. */

/* MYSQL_BIND's flags: char in MariaDB's library and old ones of MySQL, bool in MySQL's since 8.0.
 */
#ifdef HAVE_MY_BOOL
typedef my_bool mysql_flag;
#else
typedef bool mysql_flag;
#endif

struct mysql_session {
    struct db base;
    MYSQL *mysql;
    size_t packet_bytes;  /* the server takes no statement that is longer */
    unsigned last_error;  /* number of the last error, for who knows how to go on */
    bool is_galera;       /* a node of a cluster: what is committed has to suit all nodes */
    bool in_transaction;  /* that we began and did not end */
    bool stuck;           /* in a transaction that could not be rolled back */
    bool idle_is_limited; /* amid a transaction, by a limit of its own, which MySQL has not */
};

/* Store an error of the library or the server, of its number's class; returns -1. */
int session_fail_connection(struct mysql_session *session, struct error *err);
int session_fail_statement(struct mysql_session *session, MYSQL_STMT *statement, struct error *err);

/* TLS as the settings want it.  Before connecting: fails where tls_ca cannot be read.  After that:
 * fails where the session is weaker, since a library may fall back and an option file is read
 * last.  In between: what a handshake that failed is, in an error that is there. */
const char *session_tls_objection(const struct db_settings *settings);

/* A prepared statement; NULL when that failed. */
MYSQL_STMT *session_prepare(struct mysql_session *session, const char *sql, struct error *err);
/* Send it with these arguments. */
int session_send(struct mysql_session *session, MYSQL_STMT *statement,
                 const struct db_value *arguments, size_t argument_count, struct error *err);

/* Both, for a statement without an answer; *changed (unless NULL) gets how many rows it changed. */
int session_execute(struct db *db, const char *sql, const struct db_value *arguments,
                    size_t argument_count, int64_t *changed, struct error *err);
/* A statement as it stands, which neither takes arguments nor answers; and many of them. */
int session_run(struct mysql_session *session, const char *sql, struct error *err);
char *mysql_fit(const char *sql);
int session_script(struct db *db, const char *sql, struct error *err);

/* Send it with `count` parameters, which are freed. */
int session_send_parameters(struct mysql_session *session, MYSQL_STMT *statement,
                            MYSQL_BIND *parameters, size_t count, struct error *err);

/* A connection as the settings want it, but not set up; NULL when that failed. */
struct mysql_session *session_connect(const struct db_settings *settings, enum db_role role,
                                      struct error *err);
void session_close(struct db *db);

/* Have the server end the statement that it is still answering. */
void session_cancel(struct mysql_session *session);

struct db_rows *session_query(struct db *db, const struct db_question *question, struct error *err);
int session_fetch(struct db_rows *rows, const struct db_value **row, struct error *err);
void session_finish(struct db_rows *rows);

struct db_bulk *session_bulk_begin(const struct db_bulk *target, struct error *err);
int session_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
int session_bulk_send(struct db_bulk *bulk, struct error *err);
void session_bulk_free(struct db_bulk *bulk);

#endif
