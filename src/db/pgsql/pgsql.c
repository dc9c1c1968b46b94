/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "db/driver.h"

#ifdef HAVE_PGSQL

#include "db/pgsql/pgsql_session.h"

#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* A source session that is idle in its transaction or does not take its rows is ended soon: its
 * transaction keeps others from altering what it read.  (Through a unix socket no setting ends who
 * does not take his rows: pgsql_rows.c.) */
#define SOURCE_IDLE_S 10u
#define SOURCE_STALLED_S 10u

/* A results session idles outside of its transactions, for as long as the source is read. */
#define RESULTS_IDLE_S 60u
#define RESULTS_STALLED_S 60u

static bool reads_only(const struct pgsql_session *session)
{
    return session->base.role == DB_SOURCE || session->base.role == DB_READER;
}

/* Set-up: everything that another setting of the server, the database or the user could change
 * for us; all but search_path, which says where the tables are. */

static struct db_value milliseconds(char digits[24], unsigned seconds)
{
    snprintf(digits, 24, "%u000", seconds);
    return db_text(seconds ? digits : "0");
}

static int set_limits(struct pgsql_session *session, const struct db_settings *settings,
                      struct error *err)
{
    bool source = session->base.role == DB_SOURCE;
    char statement[24], lock_wait[24], idle[24], stalled[24], idle_outside[24];
    const struct db_value limits[] = {
        milliseconds(statement, settings->deadline_s),
        milliseconds(lock_wait, db_lock_wait(settings)),
        milliseconds(idle, source ? SOURCE_IDLE_S : RESULTS_IDLE_S),
    };
    const struct db_value limits_of_some[] = {
        milliseconds(stalled, source ? SOURCE_STALLED_S : RESULTS_STALLED_S),
        milliseconds(idle_outside, source ? 0 : db_results_idle(settings)),
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
    /* Not every server has these.  Compiling a query that an index answers takes longer than the
     * query; one that reads all gains nothing by it. */
    return pgsql_execute(&session->base,
                         "SELECT set_config(name,"
                         " CASE name WHEN 'tcp_user_timeout' THEN ?"
                         " WHEN 'idle_session_timeout' THEN ? ELSE '0' END, false) "
                         "FROM pg_catalog.pg_settings WHERE name IN"
                         " ('tcp_user_timeout', 'idle_session_timeout', 'transaction_timeout',"
                         " 'jit')",
                         limits_of_some, sizeof limits_of_some / sizeof *limits_of_some, NULL, err);
}

static int set_up(struct pgsql_session *session, const struct db_settings *settings,
                  struct error *err)
{
    const struct db_value modes[] = {
        db_text(reads_only(session) ? "repeatable read" : "read committed"),
        db_text(reads_only(session) ? "on" : "off"),
    };
    if (pgsql_execute(&session->base,
                      "SELECT set_config('default_transaction_isolation', ?, false),"
                      " set_config('default_transaction_read_only', ?, false),"
                      " set_config('default_transaction_deferrable', 'off', false),"
                      " set_config('standard_conforming_strings', 'on', false),"
                      " set_config('extra_float_digits', '3', false),"
                      " set_config('bytea_output', 'hex', false)",
                      modes, sizeof modes / sizeof *modes, NULL, err))
        return -1;
    return set_limits(session, settings, err);
}

/* Sessions. */

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* Keys and values for libpq, which takes its default for an empty one: from the service, from its
 * environment, or built in.  Passwords never pass through here. */
#define CONNECTION_KEYS 16
struct connection_keys {
    const char *names[CONNECTION_KEYS + 1], *values[CONNECTION_KEYS + 1];
    char port[24], user_timeout[24], connect_timeout[24];
};

/* sslmode of each tls_mode. */
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
        milliseconds(keys->user_timeout, db_answer_wait(settings));
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
        /* Nothing is converted for SQL_ASCII: the source's rows come as the bytes it stores. */
        { "client_encoding", role == DB_SOURCE ? "SQL_ASCII" : "UTF8" },
        { "keepalives", "1" },
        { "keepalives_idle", "30" },
        { "keepalives_interval", "10" },
        { "keepalives_count", "3" },
        { "tcp_user_timeout", keys->user_timeout },
        { "connect_timeout", keys->connect_timeout }, /* of PQpingParams() */
        { "sslmode", ssl_modes[settings->tls_mode] },
        { "sslrootcert", settings->tls_ca },
        /* Kerberos would go before TLS, whatever sslmode says. */
        { "gssencmode", settings->tls_mode >= DB_TLS_REQUIRED ? "disable" : NULL },
    };
    for (size_t i = 0; i < CONNECTION_KEYS; i++) {
        keys->names[i] = pairs[i].name;
        keys->values[i] = pairs[i].value;
    }
}

/* As PQconnectdb() does it; but only a connection that was not made at once can be told to say
 * the SQLSTATE when it is refused. */
static int connect_session(struct pgsql_session *session, const struct db_settings *settings,
                           struct error *err)
{
    struct connection_keys keys = { 0 };
    fill_keys(&keys, settings, session->base.role);
    unsigned wait_s = db_connect_wait(settings);
    int64_t until_ms = pgsql_clock_ms() + (int64_t)wait_s * 1000;
    /* 0: the database's name is a name, even with an equals sign in it. */
    PGconn *connection = PQconnectStartParams(keys.names, keys.values, 0);
    if (!connection)
        return fail(err, ERROR_OTHER, "out of memory");
    session->connection = connection;
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    PQsetNoticeProcessor(connection, ignore_notice, NULL);

    /* Wrong options fail at once; but so does a server that is not there. */
    if (PQstatus(connection) == CONNECTION_BAD) {
        bool attempted = PQpingParams(keys.names, keys.values, 0) != PQPING_NO_ATTEMPT;
        return pgsql_fail_connecting(session, !attempted, err);
    }
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
        if (!pgsql_wait(connection, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_ms))
            return fail(err, ERROR_GONE, "%s: no answer within %u s", session->name, wait_s);
        next = PQconnectPoll(connection);
    }
    if (next == PGRES_POLLING_FAILED)
        return pgsql_fail_connecting(session, false, err);
    PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
    if (settings->tls_mode >= DB_TLS_REQUIRED && !PQsslInUse(connection))
        return fail(err, ERROR_SETTINGS,
                    "%s: tls_mode = '%s', but the way is a unix socket, which has no TLS",
                    session->name, db_tls_names[settings->tls_mode]);
    if (PQsetnonblocking(connection, 1))
        return pgsql_fail(session, NULL, err);
    return 0;
}

/* Where libpq looks for a service first; if it finds none there, then in a folder that only it
 * knows. */
static char *login_file(const struct db_settings *settings)
{
    const char *named = getenv("PGSERVICEFILE"), *home = getenv("HOME");
    if (!db_given(settings->service))
        return NULL;
    if (db_given(named))
        return memory_text(named);
    const struct passwd *own = db_given(home) ? NULL : getpwuid(geteuid());
    struct text path = { 0 };
    text_format(&path, "%s/.pg_service.conf", own ? own->pw_dir : db_given(home) ? home : "");
    return path.bytes;
}

/* libpq would pass over TLS in silence there.  A service may name another host. */
static const char *tls_objection(const struct db_settings *settings)
{
    bool by_socket =
        db_given(settings->host) ? *settings->host == '/' : !db_given(settings->service);
    return by_socket && settings->tls_mode >= DB_TLS_REQUIRED
               ? "a unix socket, which it is without a host, has no TLS"
               : NULL;
}

static void name_session(struct pgsql_session *session, const struct db_settings *settings)
{
    struct text name = { 0 };
    text_format(&name, "database '%s'", db_given(settings->database) ? settings->database : "");
    if (db_given(settings->host))
        text_format(&name, " on '%s'", settings->host);
    else if (db_given(settings->service))
        text_format(&name, " of service '%s'", settings->service);
    session->name = name.bytes;
}

static void close_session(struct db *db)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    PQfinish(session->connection);
    free(session->name);
    free(session);
}

static int open_session(struct db **opened, const struct db_settings *settings, enum db_role role,
                        struct error *err)
{
    struct pgsql_session *session = memory_zeroed(1, sizeof *session);
    session->base = (struct db){ .driver = &pgsql_driver, .role = role };
    session->answer_wait_s = db_answer_wait(settings);
    name_session(session, settings);
    if (connect_session(session, settings, err)) {
        fail_in(err, "cannot connect");
    } else if (!set_up(session, settings, err)) {
        *opened = &session->base;
        return 0;
    }
    close_session(&session->base);
    return -1;
}

void pgsql_cancel(struct pgsql_session *session)
{
    if (session->hung)
        return;
    /* Behind a pooler the number may be that of no server process, or of somebody else's. */
    static const char cancel[] = "SELECT pg_catalog.pg_cancel_backend(pid) "
                                 "FROM pg_catalog.pg_stat_activity "
                                 "WHERE pid = ? AND application_name = 'fairmill'";
    struct db_value pid = db_integer(PQbackendPID(session->connection));
    struct error ignored;
    struct db *second;
    if (!open_session(&second, session->base.settings, DB_READER, &ignored)) {
        pgsql_execute(second, cancel, &pid, 1, NULL, &ignored);
        close_session(second);
    }
    session->until_ms = pgsql_clock_ms() + (int64_t)db_connect_wait(session->base.settings) * 1000;
    char *line;
    while ((line = pgsql_next_line(session)))
        PQfreemem(line);
    pgsql_pass_over(session);
}

/* Transactions. */

static void rollback(struct db *db)
{
    struct error ignored;
    pgsql_run((struct pgsql_session *)db, "ROLLBACK", &ignored);
}

static int begin(struct db *db, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    /* The server would only warn, and stay in the transaction that there is. */
    if (PQtransactionStatus(session->connection) == PQTRANS_INTRANS ||
        PQtransactionStatus(session->connection) == PQTRANS_INERROR)
        return fail(err, ERROR_GONE, "%s: the transaction before could not be rolled back",
                    session->name);
    /* That it may write is the session's default; a replica would refuse to be told so, and only
     * says what it is when it is written to. */
    if (!reads_only(session))
        return pgsql_run(session, "BEGIN ISOLATION LEVEL READ COMMITTED", err);
    /* BEGIN alone takes no snapshot; the first query does. */
    if (pgsql_run(session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1", err)) {
        rollback(db);
        return -1;
    }
    return 0;
}

/* To a snapshot a table that was rewritten or made after it has no rows, and nobody says so: SQL
 * sees the file that the table had then, a function the one that it has now.  What was read is
 * locked, so it stays as it is.  (VACUUM FULL keeps the rows, but looks the same, and costs a
 * second try.) */
static int check_snapshot(struct db *db, struct error *err)
{
    static const char younger[] =
        "SELECT CAST(CAST(l.relation AS regclass) AS text) FROM pg_catalog.pg_locks l "
        "LEFT JOIN pg_catalog.pg_class c ON c.oid = l.relation "
        "WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation' "
        "AND l.relation >= 16384 " /* those below are the server's own */
        "AND (c.oid IS NULL"
        " OR NULLIF(c.relfilenode, 0) IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid)) "
        "ORDER BY c.relkind DESC LIMIT 1"; /* tables before their indexes */
    struct pgsql_session *session = (struct pgsql_session *)db;
    const struct db_value *row;
    struct db_rows *rows = pgsql_query(db, younger, NULL, 0, "t", err);
    if (!rows)
        return -1;
    int got = pgsql_fetch(rows, &row, err);
    if (got > 0)
        fail(err, ERROR_RETRY, "%s: '%.*s' has changed since it was looked at", session->name,
             (int)row[0].text.length, row[0].text.bytes);
    pgsql_finish(rows);
    return got ? -1 : 0;
}

/* A transaction in which something failed ends with a ROLLBACK, whatever one asks for. */
static int commit(struct db *db, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    bool broken = PQtransactionStatus(session->connection) == PQTRANS_INERROR;
    if (session->base.role == DB_SOURCE && !broken && check_snapshot(db, err))
        return -1;
    if (pgsql_run(session, "COMMIT", err))
        return -1;
    if (broken)
        return fail(err, ERROR_OTHER, "%s: what failed before cannot be committed", session->name);
    return 0;
}

/* Locks: the server's are of a number, not of a name. */

static int set_lock_wait(struct db *db, unsigned seconds, struct error *err)
{
    char digits[24];
    const struct db_value wait = milliseconds(digits, seconds);
    return pgsql_execute(db, "SELECT set_config('lock_timeout', ?, false)", &wait, 1, NULL, err);
}

static struct db_value lock_key(const char *name)
{
    return db_integer((int64_t)XXH3_64bits(name, strlen(name)));
}

static int lock(struct db *db, const char *name, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    struct db_value key = lock_key(name);
    const struct db_value *row;
    struct db_rows *rows = pgsql_query(db, "SELECT pg_try_advisory_lock(?)", &key, 1, "i", err);
    if (!rows)
        return -1;
    int got = pgsql_fetch(rows, &row, err);
    bool locked = got == 1 && row[0].type == DB_INTEGER && row[0].integer == 1;
    pgsql_finish(rows);
    if (got < 0)
        return -1;
    if (!locked)
        return fail(err, ERROR_LOCKED, "%s: another run holds the lock '%s'", session->name, name);
    return 0;
}

static void unlock(struct db *db, const char *name)
{
    struct error ignored;
    struct db_value key = lock_key(name);
    pgsql_execute(db, "SELECT pg_advisory_unlock(?)", &key, 1, NULL, &ignored);
}

const struct db_driver pgsql_driver = {
    .name = "pgsql",
    .comes_back = true,
    .scan_hint = "",
    /* The comparison is of texts, since a name would have to be of 63 bytes at most. */
    .columns_query = "SELECT a.attname FROM pg_catalog.pg_class c "
                     "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "
                     "WHERE c.relname = CAST(? AS text) AND pg_catalog.pg_table_is_visible(c.oid) "
                     "AND a.attnum > 0 AND NOT a.attisdropped "
                     "AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT') "
                     "ORDER BY a.attnum",
    .name_bytes = 63,
    /* A replica has the same, and is the same database. */
    .identity_query = "SELECT system_identifier || ' ' || current_database() "
                      "FROM pg_catalog.pg_control_system()",
    .privileges = &pgsql_privileges,
    .login_file = login_file,
    .tls_objection = tls_objection,
    .open = open_session,
    .close = close_session,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .replica_lag = pgsql_replica_lag,
    .query = pgsql_query,
    .stream = pgsql_stream,
    .fetch = pgsql_fetch,
    .finish = pgsql_finish,
    .execute = pgsql_execute,
    .script = pgsql_script,
    .set_lock_wait = set_lock_wait,
    .lock = lock,
    .unlock = unlock,
    .bulk_begin = pgsql_bulk_begin,
    .bulk_row = pgsql_bulk_row,
    .bulk_end = pgsql_bulk_end,
    .bulk_abandon = pgsql_bulk_abandon,
};

#endif
