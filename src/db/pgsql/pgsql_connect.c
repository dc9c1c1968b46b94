/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/pgsql/pgsql_session.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/*
 * Limits, in seconds, for a source session that is idle in its transaction or does not read its
 * rows.  They are short, because the transaction keeps other sessions from altering the tables that
 * it read.  The second limit has no effect through a unix socket; see set_waker() in pgsql_rows.c.
 */
#define SOURCE_IDLE_S 10u
#define SOURCE_STALLED_S 10u

/*
 * Limits, in seconds, for a session of the results.  RESULTS_IDLE_S is for the transactions of a
 * session that writes; such a session waits for the source only outside of transactions.  A session
 * that only reads may be idle in its transaction for db_results_idle(), while its rows are compared
 * with the source.
 */
#define RESULTS_IDLE_S 60u
#define RESULTS_STALLED_S 60u

struct db_value pgsql_milliseconds(char digits[24], unsigned seconds)
{
    snprintf(digits, 24, "%u000", seconds);
    return db_text(seconds ? digits : "0");
}

/*
 * Setup.  The session sets every parameter that matters here, because the server, the database or
 * the login may have other values.  The exception is search_path, which determines where the
 * tables are.
 */

static int pgsql_connect_set_limits(struct pgsql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    bool source = session->base.role == DB_SOURCE, reads = session->base.role == DB_READER;
    unsigned idle_within_s = source  ? SOURCE_IDLE_S
                             : reads ? db_results_idle(settings)
                                     : RESULTS_IDLE_S;
    char statement[24], lock_wait[24], idle[24], stalled[24], idle_outside[24];
    const struct db_value limits[] = {
        pgsql_milliseconds(statement, settings->deadline_s),
        pgsql_milliseconds(lock_wait, db_lock_wait(settings)),
        pgsql_milliseconds(idle, idle_within_s),
    };
    const struct db_value limits_of_some[] = {
        pgsql_milliseconds(stalled, source ? SOURCE_STALLED_S : RESULTS_STALLED_S),
        pgsql_milliseconds(idle_outside, source ? 0 : db_results_idle(settings)),
    };
    if (pgsql_execute(&session->base,
                      "SELECT set_config('statement_timeout', ?, false),"
                      " set_config('lock_timeout', ?, false),"
                      " set_config('idle_in_transaction_session_timeout', ?, false),"
                      " set_config('tcp_keepalives_idle', '30', false),"
                      " set_config('tcp_keepalives_interval', '10', false),"
                      " set_config('tcp_keepalives_count', '3', false)",
                      limits, sizeof limits / sizeof *limits, NULL, err))
        return -1;
    /* Set only the parameters that the server knows, because older servers lack some of them. `jit`
     * is off because compiling a query that uses an index takes longer than the query.  For queries
     * of a whole table, compiling has no benefit. */
    return pgsql_execute(&session->base,
                         "SELECT set_config(name,"
                         " CASE name WHEN 'tcp_user_timeout' THEN ?"
                         " WHEN 'idle_session_timeout' THEN ? ELSE '0' END, false) "
                         "FROM pg_catalog.pg_settings WHERE name IN"
                         " ('tcp_user_timeout', 'idle_session_timeout', 'transaction_timeout',"
                         " 'jit')",
                         limits_of_some, sizeof limits_of_some / sizeof *limits_of_some, NULL, err);
}

/*
 * Assumes the role of the tables' owner, if this session may.  Objects that init adds to existing
 * tables must belong to the tables' owner, not to the login that was granted the role for an
 * upgrade.  Otherwise that login could change a part of the ledger.
 */
static int become_owner(struct pgsql_session *session, struct error *err)
{
    return pgsql_execute(&session->base,
                         "SELECT pg_catalog.set_config('role', "
                         "pg_catalog.pg_get_userbyid(relowner), false) FROM pg_catalog.pg_class "
                         "WHERE oid = pg_catalog.to_regclass('fairmill_schema') "
                         "AND pg_catalog.pg_has_role(relowner, 'MEMBER') "
                         "AND pg_catalog.has_schema_privilege(relowner, relnamespace, 'CREATE')",
                         NULL, 0, NULL, err);
}

static int pgsql_connect_set_up(struct pgsql_session *session, struct error *err)
{
    bool reads_only = !db_role_writes(session->base.role);
    const struct db_value modes[] = {
        db_text(reads_only ? "repeatable read" : "read committed"),
        db_text(reads_only ? "on" : "off"),
    };
    if (pgsql_execute(&session->base,
                      "SELECT set_config('default_transaction_isolation', ?, false),"
                      " set_config('default_transaction_read_only', ?, false),"
                      " set_config('default_transaction_deferrable', 'off', false),"
                      " set_config('standard_conforming_strings', 'on', false),"
                      " set_config('extra_float_digits', '3', false),"
                      " set_config('bytea_output', 'hex', false)",
                      modes, sizeof modes / sizeof *modes, NULL, err) ||
        pgsql_connect_set_limits(session, err))
        return -1;
    return session->base.role == DB_OWNER ? become_owner(session, err) : 0;
}

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/*
 * Keywords and values for libpq.  For an empty value, libpq uses the value of the service or of the
 * environment, or its built-in default.  Passwords are never among the values.
 */
#define CONNECTION_KEYS 16
struct connection_keys {
    const char *names[CONNECTION_KEYS + 1], *values[CONNECTION_KEYS + 1];
    char port[24], user_timeout[24], connect_timeout[24];
};

/* The sslmode for each tls_mode. */
static const char *const ssl_modes[] = {
    [DB_TLS_DEFAULT] = NULL,
    [DB_TLS_OFF] = "disable",
    [DB_TLS_REQUIRED] = "require",
    [DB_TLS_VERIFY_CA] = "verify-ca",
    [DB_TLS_VERIFY_FULL] = "verify-full",
};

static void fill_keys(struct connection_keys *keys, const struct db_settings *settings,
                      enum db_role role)
{
    if (settings->port)
        snprintf(keys->port, sizeof keys->port, "%u", settings->port);
    if (settings->deadline_s)
        pgsql_milliseconds(keys->user_timeout, db_answer_wait(settings));
    snprintf(keys->connect_timeout, sizeof keys->connect_timeout, "%u", db_connect_wait(settings));
    const struct {
        const char *name, *value;
    } pairs[CONNECTION_KEYS] = {
        { "service", settings->service },
        { "host", db_given(settings->host) ? settings->host : settings->socket },
        { "port", keys->port },
        { "dbname", settings->database },
        { "user", settings->user },
        { "application_name", "fairmill" },
        /* SQL_ASCII turns conversion off, so that rows of the source arrive as the stored bytes. */
        { "client_encoding", role == DB_SOURCE ? "SQL_ASCII" : "UTF8" },
        { "keepalives", "1" },
        { "keepalives_idle", "30" },
        { "keepalives_interval", "10" },
        { "keepalives_count", "3" },
        { "tcp_user_timeout", keys->user_timeout },
        { "connect_timeout", keys->connect_timeout }, /* used by PQpingParams() */
        { "sslmode", ssl_modes[settings->tls_mode] },
        { "sslrootcert", settings->tls_ca },
        /* Kerberos would be tried before TLS, regardless of sslmode. */
        { "gssencmode", settings->tls_mode >= DB_TLS_REQUIRED ? "disable" : NULL },
    };
    for (size_t i = 0; i < CONNECTION_KEYS; i++) {
        keys->names[i] = pairs[i].name;
        keys->values[i] = pairs[i].value;
    }
}

/*
 * Connects as PQconnectdb() does.  But to get the SQLSTATE of a rejected connection, the verbosity
 * must be set before the connection is complete.
 */
static int pgsql_connect_session(struct pgsql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    struct connection_keys keys = { 0 };
    fill_keys(&keys, settings, session->base.role);
    unsigned wait_s = db_connect_wait(settings);
    int64_t until_ms = clock_milliseconds() + (int64_t)wait_s * 1000;
    /* The last argument, 0, makes libpq use the database's name as it is.  Otherwise libpq would
     * read a name with an equals sign as a connection string. */
    PGconn *connection = PQconnectStartParams(keys.names, keys.values, 0);
    if (!connection)
        return fail(err, ERROR_OTHER, "out of memory");
    session->connection = connection;
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    PQsetNoticeProcessor(connection, ignore_notice, NULL);

    /* Invalid options fail at once, but so does a missing server.  PQpingParams() shows which. */
    if (PQstatus(connection) == CONNECTION_BAD) {
        bool attempted = PQpingParams(keys.names, keys.values, 0) != PQPING_NO_ATTEMPT;
        return pgsql_fail_connecting(session, !attempted, err);
    }
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
        if (!pgsql_wait(connection, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_ms))
            return fail(err, ERROR_GONE, "%s: no answer within %u s", session->base.name, wait_s);
        next = PQconnectPoll(connection);
    }
    if (next == PGRES_POLLING_FAILED)
        return pgsql_fail_connecting(session, false, err);
    PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
    if (settings->tls_mode >= DB_TLS_REQUIRED && !PQsslInUse(connection))
        return fail(err, ERROR_SETTINGS,
                    "%s: tls_mode = '%s', but the connection is a unix socket, without TLS",
                    session->base.name, db_tls_names[settings->tls_mode]);
    if (PQsetnonblocking(connection, 1))
        return pgsql_fail(session, NULL, err);
    return 0;
}

void pgsql_close(struct db *db)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    PQfinish(session->connection);
    free(session->base.name);
    free(session);
}

struct db *pgsql_open(const struct db_settings *settings, enum db_role role, struct error *err)
{
    struct pgsql_session *session = memory_zeroed(1, sizeof *session);
    session->base = db_session(settings, role);
    if (pgsql_connect_session(session, err))
        fail_in(err, "cannot connect");
    else if (!pgsql_connect_set_up(session, err))
        return &session->base;
    pgsql_close(&session->base);
    return NULL;
}

void pgsql_cancel(struct pgsql_session *session)
{
    if (session->hung)
        return;
    /* With a connection pooler, the PID may belong to no server process or to another user's, so
     * check the application's name. */
    static const char cancel[] = "SELECT pg_catalog.pg_cancel_backend(pid) "
                                 "FROM pg_catalog.pg_stat_activity "
                                 "WHERE pid = ? AND application_name = 'fairmill'";
    struct db_value pid = db_integer(PQbackendPID(session->connection));
    struct error ignored;
    struct db *second = pgsql_open(session->base.settings, DB_READER, &ignored);
    if (second) {
        pgsql_execute(second, cancel, &pid, 1, NULL, &ignored);
        pgsql_close(second);
    }
    session->until_ms =
        clock_milliseconds() + (int64_t)db_connect_wait(session->base.settings) * 1000;
    char *line;
    while ((line = pgsql_next_line(session)))
        PQfreemem(line);
    pgsql_pass_over(session);
}
