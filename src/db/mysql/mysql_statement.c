/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "db/mysql/mysql_session.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* Error classes of ranges of error numbers.  No header has the names for both MariaDB and MySQL. */
static const struct {
    unsigned first, last;
    enum error_class class;
} classes[] = {
    { 2001, 2006, ERROR_GONE },    /* socket, host or server unreachable or lost */
    { 2011, 2013, ERROR_GONE },    /* TCP, handshake, connection lost */
    { 2026, 2027, ERROR_GONE },    /* TLS, malformed packet */
    { 2055, 2056, ERROR_GONE },    /* connection lost, or its statement was closed */
    { 5013, 5014, ERROR_GONE },    /* read, write */
    { 1040, 1041, ERROR_GONE },    /* too many connections, server out of memory */
    { 1047, 1047, ERROR_GONE },    /* Galera node not ready */
    { 1053, 1053, ERROR_GONE },    /* shutdown */
    { 1077, 1077, ERROR_GONE },    /* shutdown */
    { 1079, 1079, ERROR_GONE },    /* shutdown */
    { 1129, 1129, ERROR_GONE },    /* host blocked after errors */
    { 1158, 1161, ERROR_GONE },    /* the server could not read or write, or timed out */
    { 1184, 1184, ERROR_GONE },    /* connection aborted */
    { 1203, 1203, ERROR_GONE },    /* too many connections of one user */
    { 1226, 1226, ERROR_GONE },    /* the user's resource limit */
    { 1290, 1290, ERROR_GONE },    /* read only: a replica, or a server during a switchover */
    { 1317, 1317, ERROR_GONE },    /* statement killed */
    { 1836, 1836, ERROR_GONE },    /* read-only mode */
    { 1927, 1927, ERROR_GONE },    /* connection killed */
    { 1969, 1969, ERROR_GONE },    /* max_statement_time */
    { 3024, 3024, ERROR_GONE },    /* max_execution_time */
    { 4031, 4031, ERROR_GONE },    /* idle too long */
    { 1020, 1020, ERROR_RETRY },   /* row changed since it was read */
    { 1205, 1206, ERROR_RETRY },   /* lock wait, lock table full */
    { 1213, 1213, ERROR_RETRY },   /* deadlock */
    { 1412, 1412, ERROR_RETRY },   /* table changed since the snapshot */
    { 1615, 1615, ERROR_RETRY },   /* table changed since the statement was prepared */
    { 1637, 1637, ERROR_RETRY },   /* too many transactions */
    { 3058, 3058, ERROR_RETRY },   /* deadlock of advisory locks */
    { 1044, 1044, ERROR_DENIED },  /* database */
    { 1045, 1045, ERROR_LOGIN },   /* user or password */
    { 1130, 1130, ERROR_LOGIN },   /* host */
    { 1142, 1143, ERROR_DENIED },  /* table, column */
    { 1227, 1227, ERROR_DENIED },  /* administrative privilege */
    { 1251, 1251, ERROR_LOGIN },   /* authentication protocol */
    { 1370, 1370, ERROR_DENIED },  /* routine */
    { 1410, 1410, ERROR_DENIED },  /* no privilege to grant */
    { 1698, 1698, ERROR_LOGIN },   /* login by socket */
    { 1792, 1792, ERROR_DENIED },  /* write in a read-only transaction */
    { 1820, 1820, ERROR_LOGIN },   /* password expired */
    { 1862, 1862, ERROR_LOGIN },   /* password expired */
    { 2059, 2059, ERROR_LOGIN },   /* unknown authentication plugin */
    { 2061, 2061, ERROR_LOGIN },   /* authentication plugin */
    { 3118, 3118, ERROR_LOGIN },   /* login locked (MySQL) */
    { 3159, 3159, ERROR_LOGIN },   /* TLS required */
    { 4151, 4151, ERROR_LOGIN },   /* login locked (MariaDB) */
    { 1049, 1049, ERROR_MISSING }, /* database */
    { 1054, 1054, ERROR_MISSING }, /* column */
    { 1146, 1146, ERROR_MISSING }, /* table */
    { 1176, 1176, ERROR_MISSING }, /* key */
    { 1356, 1356, ERROR_MISSING }, /* table or column of a view */
    { 1449, 1449, ERROR_MISSING }, /* a view's definer */
    { 1932, 1932, ERROR_MISSING }, /* table, in the engine */
    { 1021, 1021, ERROR_FULL },    /* disk */
    { 1114, 1114, ERROR_FULL },    /* table */
};

/*
 * The server reports an error of its operating system with one of these numbers.  The text contains
 * the system's number: ENOSPC, EDQUOT or EFBIG, with their values on Linux.
 */
static bool says_no_room(unsigned number, const char *message)
{
    static const char *const wordings[] = { "error 28 ",    "error 122 ",   "error 27 ",
                                            "Errcode: 28 ", "Errcode: 122", "Errcode: 27 ",
                                            "errno: 28 ",   "errno: 122",   "errno: 27 " };
    if (number != 3 && number != 1026 && number != 1030)
        return false;
    for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++)
        if (strstr(message, wordings[i]))
            return true;
    return false;
}

static enum error_class mysql_statement_class_of(unsigned number, const char *message)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (number >= classes[i].first && number <= classes[i].last)
            return classes[i].class;
    return says_no_room(number, message) ? ERROR_FULL : ERROR_OTHER;
}

static int fail_with(struct mysql_session *session, unsigned number, const char *message,
                     struct error *err)
{
    session->last_error = number;
    fail(err, mysql_statement_class_of(number, message), "%s: %s (%u)", session->base.name, message,
         number);
    err->of_database = true;
    return -1;
}

int session_fail_connection(struct mysql_session *session, struct error *err)
{
    return fail_with(session, mysql_errno(session->mysql), mysql_error(session->mysql), err);
}

int session_fail_statement(struct mysql_session *session, MYSQL_STMT *statement, struct error *err)
{
    /* If an unbuffered query fails while rows are read, MariaDB's library stores the error only in
     * the connection. */
    if (!mysql_stmt_errno(statement))
        return session_fail_connection(session, err);
    return fail_with(session, mysql_stmt_errno(statement), mysql_stmt_error(statement), err);
}

/*
 * A Galera node rolls a transaction back if another node's transaction wins.  If that happens
 * during a prepared statement, the node still reports success for the statement.  Without this
 * check, the following statements would run outside of the transaction.
 */
static int check_transaction(struct mysql_session *session, struct error *err)
{
    if (!session->in_transaction || session->mysql->server_status & SERVER_STATUS_IN_TRANS)
        return 0;
    return fail(err, ERROR_RETRY, "%s: the server rolled the transaction back", session->base.name);
}

MYSQL_STMT *session_prepare(struct mysql_session *session, const char *sql, struct error *err)
{
    MYSQL_STMT *statement = mysql_stmt_init(session->mysql);
    if (!statement) {
        session_fail_connection(session, err);
    } else if (mysql_stmt_prepare(statement, sql, strlen(sql))) {
        session_fail_statement(session, statement, err);
        mysql_stmt_close(statement);
        statement = NULL;
    }
    return statement;
}

static bool bind_parameters(MYSQL_STMT *statement, MYSQL_BIND *parameters, size_t count)
{
    if (!count)
        return false;
#ifdef HAVE_MYSQL_STMT_BIND_NAMED_PARAM
    return mysql_stmt_bind_named_param(statement, parameters, (unsigned)count, NULL);
#else
    return mysql_stmt_bind_param(statement, parameters);
#endif
}

int session_send_parameters(struct mysql_session *session, MYSQL_STMT *statement,
                            MYSQL_BIND *parameters, size_t count, struct error *err)
{
    int status = 0;
    if (bind_parameters(statement, parameters, count) || mysql_stmt_execute(statement))
        status = session_fail_statement(session, statement, err);
    free(parameters);
    return status ? status : check_transaction(session, err);
}

static void bind_argument(MYSQL_BIND *parameter, const struct db_value *argument)
{
    switch (argument->type) {
    case DB_INTEGER:
    case DB_UNSIGNED:
        parameter->buffer_type = MYSQL_TYPE_LONGLONG;
        parameter->buffer = (void *)&argument->integer;
        parameter->is_unsigned = argument->type == DB_UNSIGNED;
        break;
    case DB_REAL:
        parameter->buffer_type = MYSQL_TYPE_DOUBLE;
        parameter->buffer = (void *)&argument->real;
        break;
    case DB_TEXT:
        parameter->buffer_type = MYSQL_TYPE_STRING;
        parameter->buffer = (void *)argument->text.bytes;
        parameter->buffer_length = argument->text.length;
        break;
    case DB_NULL:
        parameter->buffer_type = MYSQL_TYPE_NULL;
        break;
    }
}

int session_send(struct mysql_session *session, MYSQL_STMT *statement,
                 const struct db_value *arguments, size_t argument_count, struct error *err)
{
    if (db_check_arguments(&session->base, mysql_stmt_param_count(statement), argument_count, err))
        return -1;
    MYSQL_BIND *parameters = memory_zeroed(argument_count, sizeof *parameters);
    for (size_t i = 0; i < argument_count; i++)
        bind_argument(&parameters[i], &arguments[i]);
    return session_send_parameters(session, statement, parameters, argument_count, err);
}

int session_execute(struct db *db, const char *sql, const struct db_value *arguments,
                    size_t argument_count, int64_t *changed, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    MYSQL_STMT *statement = session_prepare(session, sql, err);
    if (!statement)
        return -1;
    int status = session_send(session, statement, arguments, argument_count, err);
    if (status == 0 && changed)
        *changed = (int64_t)mysql_stmt_affected_rows(statement);
    mysql_stmt_close(statement);
    return status;
}

int session_run(struct mysql_session *session, const char *sql, struct error *err)
{
    if (mysql_real_query(session->mysql, sql, strlen(sql)))
        return session_fail_connection(session, err);
    return 0;
}

/*
 * The login or role whose privileges a view uses.  With SQL SECURITY DEFINER, users who query a
 * view need no privileges on its tables.  That fails in two cases if the login that creates the
 * view has its privileges from a role:
 *
 *   - MariaDB ignores the roles of a definer.  Therefore the role itself becomes the view's
 *     definer.
 *   - MySQL (9.7) ignores the definer's roles if the database's name contains an underscore or a
 *     percent sign, which GRANTs escape.  Users could not query the view until an administrator had
 *     run the SQL of `init --print`.  Therefore the view uses the privileges of the user who
 *     queries it.
 */
enum definer { BY_LOGIN, BY_ROLE, BY_READER };

static int find_definer(struct mysql_session *session, enum definer *definer, struct error *err)
{
    if (session_run(session,
                    "SELECT 0 /*M! + (CURRENT_ROLE() IS NOT NULL) */"
                    " /*!80000 + 2 * (CURRENT_ROLE() <> 'NONE' AND DATABASE() REGEXP '[_%]') */",
                    err))
        return -1;
    MYSQL_RES *result = mysql_store_result(session->mysql);
    MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;
    *definer = row ? (enum definer)(*row[0] - '0') : BY_LOGIN;
    mysql_free_result(result);
    return row ? 0 : session_fail_connection(session, err);
}

/* Writes the script to `fitted`, with a definer that lets other users query the views. */
static int fit_views(struct mysql_session *session, const char *sql, struct text *fitted,
                     struct error *err)
{
    static const char *const fitting[] = {
        [BY_LOGIN] = mysql_definer,
        [BY_ROLE] = " DEFINER = CURRENT_ROLE SQL SECURITY DEFINER ",
        [BY_READER] = " SQL SECURITY INVOKER ",
    };
    enum definer definer = BY_LOGIN;
    if (strstr(sql, mysql_definer) && find_definer(session, &definer, err))
        return -1;
    mysql_add_defined(fitted, sql, fitting[definer]);
    return 0;
}

static int run_script(struct mysql_session *session, const char *sql, struct error *err)
{
    MYSQL *mysql = session->mysql;
    /* Let the server split the script, because only it knows all rules for the end of a statement.
     */
    if (mysql_set_server_option(mysql, MYSQL_OPTION_MULTI_STATEMENTS_ON))
        return session_fail_connection(session, err);
    int more = mysql_real_query(mysql, sql, strlen(sql)) ? 1 : 0;
    while (!more) {
        mysql_free_result(mysql_use_result(mysql));
        more = mysql_next_result(mysql);
    }
    int status = more > 0 ? session_fail_connection(session, err) : 0;
    mysql_set_server_option(mysql, MYSQL_OPTION_MULTI_STATEMENTS_OFF);
    return status;
}

int session_script(struct db *db, const char *sql, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    struct text fitted = { 0 };
    int status = fit_views(session, sql, &fitted, err);
    if (!status)
        status = run_script(session, fitted.bytes, err);
    text_free(&fitted);
    return status;
}
