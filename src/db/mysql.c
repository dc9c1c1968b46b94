/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "db/driver.h"

#ifdef HAVE_MYSQL

#include "db/mysql_session.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* A source session that is idle or does not take its rows is ended soon: its transaction might
 * keep slurmdbd waiting. */
#define SOURCE_IDLE_S 60
#define SOURCE_STALLED_S 10

#define RESULTS_STALLED_S 60

/* Errors. */

#define UNKNOWN_VARIABLE 1193u

/* Numbers, since no header has the names of both MariaDB and MySQL. */
static const struct {
    unsigned number;
    enum error_class class;
} classes[] = {
    { 2001, ERROR_GONE },    /* no socket to be had */
    { 2002, ERROR_GONE },    /* nobody at the server's socket */
    { 2003, ERROR_GONE },    /* nobody at its port */
    { 2004, ERROR_GONE },    /* no TCP socket to be had */
    { 2005, ERROR_GONE },    /* unknown host */
    { 2006, ERROR_GONE },    /* server gone */
    { 2011, ERROR_GONE },    /* TCP */
    { 2012, ERROR_GONE },    /* handshake */
    { 2013, ERROR_GONE },    /* connection lost */
    { 2026, ERROR_GONE },    /* TLS */
    { 2027, ERROR_GONE },    /* malformed packet */
    { 2055, ERROR_GONE },    /* connection lost, with its errno */
    { 2056, ERROR_GONE },    /* statement closed by a lost connection */
    { 5013, ERROR_GONE },    /* read */
    { 5014, ERROR_GONE },    /* write */
    { 1040, ERROR_GONE },    /* too many connections */
    { 1041, ERROR_GONE },    /* server out of memory */
    { 1047, ERROR_GONE },    /* a Galera node that is not ready */
    { 1053, ERROR_GONE },    /* shutdown */
    { 1077, ERROR_GONE },    /* shutdown */
    { 1079, ERROR_GONE },    /* shutdown */
    { 1129, ERROR_GONE },    /* host blocked after errors */
    { 1158, ERROR_GONE },    /* the server could not read */
    { 1159, ERROR_GONE },    /* in time */
    { 1160, ERROR_GONE },    /* or write */
    { 1161, ERROR_GONE },    /* in time */
    { 1184, ERROR_GONE },    /* aborted connection */
    { 1203, ERROR_GONE },    /* too many connections of this user */
    { 1226, ERROR_GONE },    /* the user's quota */
    { 1290, ERROR_GONE },    /* read only: a replica, or a server that is being switched */
    { 1317, ERROR_GONE },    /* statement killed */
    { 1836, ERROR_GONE },    /* read-only mode */
    { 1927, ERROR_GONE },    /* connection killed */
    { 1969, ERROR_GONE },    /* max_statement_time */
    { 3024, ERROR_GONE },    /* max_execution_time */
    { 4031, ERROR_GONE },    /* idle for too long */
    { 1020, ERROR_RETRY },   /* row changed since it was read */
    { 1205, ERROR_RETRY },   /* lock wait */
    { 1206, ERROR_RETRY },   /* lock table full */
    { 1213, ERROR_RETRY },   /* deadlock */
    { 1412, ERROR_RETRY },   /* table changed since the snapshot */
    { 1615, ERROR_RETRY },   /* table changed since the statement was prepared */
    { 1637, ERROR_RETRY },   /* too many transactions */
    { 3058, ERROR_RETRY },   /* deadlock of advisory locks */
    { 1044, ERROR_DENIED },  /* database */
    { 1045, ERROR_DENIED },  /* login */
    { 1130, ERROR_DENIED },  /* host */
    { 1142, ERROR_DENIED },  /* table */
    { 1143, ERROR_DENIED },  /* column */
    { 1227, ERROR_DENIED },  /* administrative privilege */
    { 1251, ERROR_DENIED },  /* authentication protocol */
    { 1370, ERROR_DENIED },  /* routine */
    { 1410, ERROR_DENIED },  /* may not grant */
    { 1698, ERROR_DENIED },  /* login by socket */
    { 1792, ERROR_DENIED },  /* write in a read-only transaction */
    { 1820, ERROR_DENIED },  /* password expired */
    { 1862, ERROR_DENIED },  /* password expired */
    { 2059, ERROR_DENIED },  /* unknown authentication plugin */
    { 2061, ERROR_DENIED },  /* authentication plugin */
    { 3118, ERROR_DENIED },  /* account locked (MySQL) */
    { 3159, ERROR_DENIED },  /* TLS required */
    { 4151, ERROR_DENIED },  /* account locked (MariaDB) */
    { 1049, ERROR_MISSING }, /* database */
    { 1054, ERROR_MISSING }, /* column */
    { 1146, ERROR_MISSING }, /* table */
    { 1176, ERROR_MISSING }, /* key */
    { 1356, ERROR_MISSING }, /* what a view selects from */
    { 1932, ERROR_MISSING }, /* table, in the engine */
    { 1021, ERROR_FULL },    /* disk */
    { 1114, ERROR_FULL },    /* table */
};

/* The server reports what its system said in one of these, with the system's own number: ENOSPC,
 * EDQUOT or EFBIG as they are on Linux. */
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

static enum error_class class_of(unsigned number, const char *message)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].number == number)
            return classes[i].class;
    return says_no_room(number, message) ? ERROR_FULL : ERROR_OTHER;
}

int session_fail(struct mysql_session *session, unsigned number, const char *message,
                 struct error *err)
{
    session->last_error = number;
    return fail(err, class_of(number, message), "%s: %s (%u)", session->name, message, number);
}

static int fail_session(struct mysql_session *session, struct error *err)
{
    return session_fail(session, mysql_errno(session->mysql), mysql_error(session->mysql), err);
}

int session_fail_statement(struct mysql_session *session, MYSQL_STMT *statement, struct error *err)
{
    /* MariaDB's library leaves an error amid an unbuffered answer with the connection only. */
    if (!mysql_stmt_errno(statement))
        return fail_session(session, err);
    return session_fail(session, mysql_stmt_errno(statement), mysql_stmt_error(statement), err);
}

/* A node of Galera that rolls a transaction back amid a prepared statement, since another node's
 * has won, says that the statement worked; what comes next would go in by itself. */
int session_check_transaction(struct mysql_session *session, struct error *err)
{
    if (!session->in_transaction || session->mysql->server_status & SERVER_STATUS_IN_TRANS)
        return 0;
    return fail(err, ERROR_RETRY, "%s: the server rolled the transaction back", session->name);
}

/* Statements. */

MYSQL_STMT *session_prepare(struct mysql_session *session, const char *sql, struct error *err)
{
    MYSQL_STMT *statement = mysql_stmt_init(session->mysql);
    if (!statement) {
        fail_session(session, err);
    } else if (mysql_stmt_prepare(statement, sql, strlen(sql))) {
        session_fail_statement(session, statement, err);
        mysql_stmt_close(statement);
        statement = NULL;
    }
    return statement;
}

bool session_bind(MYSQL_STMT *statement, MYSQL_BIND *parameters, size_t count)
{
    if (!count)
        return false;
#ifdef HAVE_MYSQL_STMT_BIND_NAMED_PARAM
    return mysql_stmt_bind_named_param(statement, parameters, (unsigned)count, NULL);
#else
    return mysql_stmt_bind_param(statement, parameters);
#endif
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
    if (mysql_stmt_param_count(statement) != argument_count)
        return fail(err, ERROR_OTHER, "%s: a statement with %lu parameters was given %zu arguments",
                    session->name, mysql_stmt_param_count(statement), argument_count);

    MYSQL_BIND *parameters = memory_zeroed(argument_count, sizeof *parameters);
    for (size_t i = 0; i < argument_count; i++)
        bind_argument(&parameters[i], &arguments[i]);
    int status = 0;
    if (session_bind(statement, parameters, argument_count) || mysql_stmt_execute(statement))
        status = session_fail_statement(session, statement, err);
    free(parameters);
    return status ? status : session_check_transaction(session, err);
}

static int execute(struct db *db, const char *sql, const struct db_value *arguments,
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

/* A statement as it stands, which neither takes arguments nor answers. */
static int run(struct mysql_session *session, const char *sql, struct error *err)
{
    if (mysql_real_query(session->mysql, sql, strlen(sql)))
        return fail_session(session, err);
    return 0;
}

static int run_script(struct db *db, const char *sql, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    MYSQL *mysql = session->mysql;
    /* The server finds the statements' ends better than we could. */
    if (mysql_set_server_option(mysql, MYSQL_OPTION_MULTI_STATEMENTS_ON))
        return fail_session(session, err);
    int more = mysql_real_query(mysql, sql, strlen(sql)) ? 1 : 0;
    while (!more) {
        mysql_free_result(mysql_use_result(mysql));
        more = mysql_next_result(mysql);
    }
    int status = more > 0 ? fail_session(session, err) : 0;
    mysql_set_server_option(mysql, MYSQL_OPTION_MULTI_STATEMENTS_OFF);
    return status;
}

/* Set-up: everything that another setting of the server could change for us. */

static int run_known(struct mysql_session *session, const char *sql, int64_t argument,
                     struct error *err)
{
    struct db_value value = db_integer(argument);
    if (execute(&session->base, sql, &value, 1, NULL, err) == 0)
        return 0;
    /* MariaDB and MySQL have different variables; whoever does not know one has the other. */
    return session->last_error == UNKNOWN_VARIABLE ? 0 : -1;
}

static int set_limits(struct mysql_session *session, struct error *err)
{
    bool source = session->base.role == DB_SOURCE;
    int64_t lock_wait_s = db_lock_wait(&session->settings);
    int64_t deadline_s = session->settings.deadline_s;
    const struct db_value limits[] = {
        db_integer(lock_wait_s),
        db_integer(lock_wait_s),
        db_integer(source ? SOURCE_IDLE_S : db_results_idle(&session->settings)),
        db_integer(source ? SOURCE_STALLED_S : RESULTS_STALLED_S),
    };
    if (execute(&session->base,
                "SET SESSION lock_wait_timeout = ?, innodb_lock_wait_timeout = ?, "
                "wait_timeout = ?, net_write_timeout = ?",
                limits, sizeof limits / sizeof *limits, NULL, err))
        return -1;
    if (source && run_known(session, "SET SESSION idle_readonly_transaction_timeout = ?",
                            SOURCE_STALLED_S, err))
        return -1;
    if (run_known(session, "SET SESSION max_statement_time = ?", deadline_s, err) ||
        run_known(session, "SET SESSION max_execution_time = ?", deadline_s * 1000, err))
        return -1;
    return 0;
}

static int set_isolation(struct mysql_session *session, struct error *err)
{
    switch (session->base.role) {
    case DB_SOURCE:
        /* Rows come as the bytes that are stored: what slurmdbd calls latin1 often is not. */
        if (run(session, "SET character_set_results = NULL", err) ||
            run(session, "SET SESSION TRANSACTION READ ONLY", err))
            return -1;
        return run(session, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", err);
    case DB_READER:
        return run(session, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", err);
    case DB_RESULTS:
    case DB_OWNER:
        break;
    }
    return run(session, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", err);
}

static int read_variables(struct mysql_session *session, struct error *err)
{
    struct db_rows *rows;
    const struct db_value *row;
    if (session_query(&session->base,
                      "SHOW SESSION VARIABLES WHERE \"Variable_name\" IN"
                      " ('max_allowed_packet', 'wsrep_on')",
                      NULL, 0, "tt", &rows, err))
        return -1;
    int got;
    while ((got = session_fetch(rows, &row, err)) > 0) {
        uint64_t bytes;
        if (number_unsigned(row[1].text.bytes, row[1].text.length, &bytes))
            session->packet_bytes = (size_t)bytes;
        else
            session->is_galera = row[1].text.length == 2; /* ON, not OFF */
    }
    session_finish(rows);
    return got < 0 ? -1 : 0;
}

/* What another node of the cluster has committed can be seen from here: without, a node may be a
 * moment behind. */
static int see_all_nodes(struct mysql_session *session, struct error *err)
{
    return session->is_galera ? run(session, "SET SESSION wsrep_sync_wait = 1", err) : 0;
}

static int set_up(struct mysql_session *session, struct error *err)
{
    /* NO_BACKSLASH_ESCAPES and PIPES_AS_CONCAT make SQL mean what it means elsewhere. */
    if (run(session,
            "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,"
            "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, completion_type = 0, "
            "sql_safe_updates = 0, sql_big_selects = 1, "
            "sql_select_limit = 18446744073709551615",
            err) ||
        run(session, "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'", err))
        return -1;
    if (set_limits(session, err) || set_isolation(session, err) || read_variables(session, err))
        return -1;
    return see_all_nodes(session, err);
}

/* Sessions. */

static char *copy(const char *text)
{
    return db_given(text) ? memory_text(text) : NULL;
}

static void keep_settings(struct mysql_session *session, const struct db_settings *settings)
{
    session->settings = (struct db_settings){
        .driver = mysql_driver.name,
        .host = copy(settings->host),
        .port = settings->port,
        .socket = copy(settings->socket),
        .database = copy(settings->database),
        .user = copy(settings->user),
        .option_file = copy(settings->option_file),
        .tls_mode = settings->tls_mode,
        .tls_ca = copy(settings->tls_ca),
        .deadline_s = settings->deadline_s,
    };
    struct text name = { 0 };
    text_format(&name, "database '%s'", db_given(settings->database) ? settings->database : "");
    if (db_given(settings->host))
        text_format(&name, " on '%s'", settings->host);
    session->name = name.bytes;
}

static void close_session(struct db *db)
{
    struct mysql_session *session = (struct mysql_session *)db;
    mysql_close(session->mysql);
    free((char *)session->settings.host);
    free((char *)session->settings.socket);
    free((char *)session->settings.database);
    free((char *)session->settings.user);
    free((char *)session->settings.option_file);
    free((char *)session->settings.tls_ca);
    free(session->name);
    free(session);
}

/* Without a user in the settings or an option file it is the one that this process runs as.  The
 * library would take the name of who logged in on the terminal, which under sudo is another. */
static const char *login(const struct db_settings *settings)
{
    if (settings->user || settings->option_file)
        return settings->user;
    const struct passwd *own = getpwuid(geteuid());
    return own ? own->pw_name : NULL;
}

static char *login_file(const struct db_settings *settings)
{
    return copy(settings->option_file);
}

static int prepare_connection(struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = &session->settings;
    unsigned connect_timeout_s = db_connect_wait(settings);
    unsigned network_timeout_s = db_answer_wait(settings);
    unsigned local_files = 0;

    session->mysql = mysql_init(NULL);
    if (!session->mysql)
        return fail(err, ERROR_OTHER, "out of memory");
    mysql_options(session->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_timeout_s);
    mysql_options(session->mysql, MYSQL_OPT_READ_TIMEOUT, &network_timeout_s);
    mysql_options(session->mysql, MYSQL_OPT_WRITE_TIMEOUT, &network_timeout_s);
    /* Or a server could ask for any file that this process can read. */
    mysql_options(session->mysql, MYSQL_OPT_LOCAL_INFILE, &local_files);
    mysql_options(session->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");

    if (session_set_tls(session, err))
        return -1;

    /* Without an option file of ours none is read, not even those in /etc. */
    if (!settings->option_file)
        return 0;
    /* The library takes a file that is not there for an empty one. */
    if (access(settings->option_file, R_OK))
        return fail(err, ERROR_SETTINGS, "cannot read option file '%s': %s", settings->option_file,
                    strerror(errno));
    mysql_options(session->mysql, MYSQL_READ_DEFAULT_FILE, settings->option_file);
    mysql_options(session->mysql, MYSQL_READ_DEFAULT_GROUP, "fairmill");
    return 0;
}

static int connect_session(struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = &session->settings;
    if (prepare_connection(session, err))
        return -1;
    /* The password comes from the option file, else the library takes MYSQL_PWD.  FOUND_ROWS:
     * an UPDATE counts the rows that it found, as in other databases. */
    if (!mysql_real_connect(session->mysql, settings->host, login(settings), NULL,
                            settings->database, settings->port, settings->socket,
                            CLIENT_FOUND_ROWS)) {
        fail_session(session, err);
        session_judge_handshake(session, err);
        return fail_in(err, "cannot connect");
    }
    if (session_check_tls(session, err))
        return fail_in(err, "cannot connect");
    return set_up(session, err);
}

static int open_session(struct db **opened, const struct db_settings *settings, enum db_role role,
                        struct error *err)
{
    struct mysql_session *session = memory_zeroed(1, sizeof *session);
    session->base = (struct db){ .driver = &mysql_driver, .role = role };
    keep_settings(session, settings);
    if (connect_session(session, err)) {
        close_session(&session->base);
        return -1;
    }
    *opened = &session->base;
    return 0;
}

void session_cancel(struct mysql_session *session)
{
    struct error ignored;
    struct db *second;
    struct db_value id = db_integer((int64_t)mysql_thread_id(session->mysql));
    if (open_session(&second, &session->settings, DB_READER, &ignored))
        return;
    execute(second, "KILL QUERY ?", &id, 1, NULL, &ignored);
    close_session(second);
}

/* Transactions. */

static int begin(struct db *db, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    /* To begin a transaction in MySQL is to commit the one before. */
    if (session->stuck)
        return fail(err, ERROR_GONE, "%s: the transaction before could not be rolled back",
                    session->name);
    bool snapshot = db->role == DB_SOURCE || db->role == DB_READER;
    if (run(session,
            snapshot ? "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
                     : "START TRANSACTION",
            err))
        return -1;
    session->in_transaction = true;
    return 0;
}

static int commit(struct db *db, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    session->in_transaction = false;
    return run(session, "COMMIT", err);
}

static void rollback(struct db *db)
{
    struct mysql_session *session = (struct mysql_session *)db;
    struct error ignored;
    session->in_transaction = false;
    if (run(session, "ROLLBACK", &ignored))
        session->stuck = true;
}

/* Locks. */

static int lock(struct db *db, const char *name, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    struct db_value argument = db_text(name);
    struct db_rows *rows;
    const struct db_value *row;
    if (session_query(db, "SELECT GET_LOCK(?, 0)", &argument, 1, "i", &rows, err))
        return -1;
    int got = session_fetch(rows, &row, err);
    bool locked = got == 1 && row[0].type == DB_INTEGER && row[0].integer == 1;
    session_finish(rows);
    if (got < 0)
        return -1;
    if (!locked)
        return fail(err, ERROR_LOCKED, "%s: another run holds the lock '%s'", session->name, name);
    return 0;
}

static void unlock(struct db *db, const char *name)
{
    struct error ignored;
    struct db_value argument = db_text(name);
    execute(db, "DO RELEASE_LOCK(?)", &argument, 1, NULL, &ignored);
}

const struct db_driver mysql_driver = {
    .name = "mysql",
    .comes_back = true,
    .scan_hint = "USE INDEX (PRIMARY)",
    .columns_query = "SELECT column_name FROM information_schema.columns "
                     "WHERE table_schema = DATABASE() AND table_name = ? "
                     "ORDER BY ordinal_position",
    .name_characters = 64,
    .name_is_basic = true,
    .identity_query = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir, DATABASE())",
    .privileges = &mysql_privileges,
    .login_file = login_file,
    .tls_objection = session_tls_objection,
    .open = open_session,
    .close = close_session,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .replica_lag = session_replica_lag,
    .query = session_query,
    .fetch = session_fetch,
    .finish = session_finish,
    .execute = execute,
    .script = run_script,
    .lock = lock,
    .unlock = unlock,
    .bulk_begin = session_bulk_begin,
    .bulk_row = session_bulk_row,
    .bulk_end = session_bulk_end,
    .bulk_abandon = session_bulk_abandon,
};

#endif
