/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "db/mysql/mysql_session.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/*
 * The lag of a replica.  MariaDB and MySQL report it in a column whose name begins with this text,
 * in one row for each server that they replicate.
 */
#define LAG_COLUMN "Seconds_Behind_"

static bool is_mariadb(const struct mysql_session *session)
{
    return strstr(mysql_get_server_info(session->mysql), "MariaDB") != NULL;
}

static const char *status_statement(const struct mysql_session *session)
{
    if (is_mariadb(session))
        return "SHOW ALL SLAVES STATUS";
    return mysql_get_server_version(session->mysql) >= 80022 ? "SHOW REPLICA STATUS"
                                                             : "SHOW SLAVE STATUS";
}

static int fail_status(struct mysql_session *session, struct error *err)
{
    session_fail_connection(session, err);
    fail_in(err, "cannot read the replica's lag");
    if (err->class != ERROR_DENIED)
        return -1;
    struct error reason = *err;
    struct text grant = { 0 };
    mysql_add_monitor_grant(&grant, session->base.settings, is_mariadb(session));
    fail(err, reason.class, "%.1500s; max_lag requires: %s", reason.message, grant.bytes);
    text_free(&grant);
    return -1;
}

/* Returns the index of the lag column, or the number of columns if it is missing. */
static unsigned find_lag_column(MYSQL_RES *status)
{
    const MYSQL_FIELD *fields = mysql_fetch_fields(status);
    unsigned count = mysql_num_fields(status), column = 0;
    while (column < count && strncmp(fields[column].name, LAG_COLUMN, strlen(LAG_COLUMN)) != 0)
        column++;
    return column;
}

/*
 * Returns the largest lag of all rows, in seconds.  If a row has NULL, replication has stopped or
 * cannot reach the other server, and the lag is DB_LAG_UNBOUNDED.
 */
static int64_t worst_lag(MYSQL_RES *status, unsigned column)
{
    int64_t worst = 0;
    MYSQL_ROW row;
    while ((row = mysql_fetch_row(status))) {
        int64_t lag;
        if (!row[column] || !number_signed(row[column], strlen(row[column]), &lag))
            lag = DB_LAG_UNBOUNDED;
        worst = lag > worst ? lag : worst;
    }
    return worst;
}

static int session_replica_lag(struct db *db, int64_t *lag_s, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    const char *statement = status_statement(session);
    if (mysql_real_query(session->mysql, statement, strlen(statement)))
        return fail_status(session, err);
    MYSQL_RES *status = mysql_store_result(session->mysql);
    if (!status)
        return fail_status(session, err);
    unsigned column = find_lag_column(status);
    int result = 0;
    if (column < mysql_num_fields(status))
        *lag_s = worst_lag(status, column);
    else
        result = fail(err, ERROR_OTHER, "%s: the server does not report its replication lag",
                      session->base.name);
    mysql_free_result(status);
    return result;
}

/*
 * Limits, in seconds, for a source session that is idle or does not read its rows.  They are short,
 * because its transaction could block slurmdbd.
 */
#define SOURCE_IDLE_S 60
#define SOURCE_STALLED_S 10

#define RESULTS_STALLED_S 60

#define UNKNOWN_VARIABLE 1193u

/*
 * Setup.  The session sets every variable that matters here, because a server's configuration may
 * have other values.
 */

static int run_known(struct mysql_session *session, const char *sql, int64_t argument,
                     struct error *err)
{
    struct db_value value = db_integer(argument);
    if (session_execute(&session->base, sql, &value, 1, NULL, err) == 0)
        return 0;
    /* MariaDB and MySQL have different variables, so a variable that the server does not know is
     * not an error. */
    return session->last_error == UNKNOWN_VARIABLE ? 0 : -1;
}

static int mysql_driver_set_limits(struct mysql_session *session, struct error *err)
{
    bool source = session->base.role == DB_SOURCE;
    const struct db_settings *settings = session->base.settings;
    int64_t lock_wait_s = db_lock_wait(settings);
    int64_t deadline_s = settings->deadline_s;
    const struct db_value limits[] = {
        db_integer(lock_wait_s),
        db_integer(lock_wait_s),
        db_integer(source ? SOURCE_IDLE_S : db_results_idle(settings)),
        db_integer(source ? SOURCE_STALLED_S : RESULTS_STALLED_S),
    };
    if (session_execute(&session->base,
                        "SET SESSION lock_wait_timeout = ?, innodb_lock_wait_timeout = ?, "
                        "wait_timeout = ?, net_write_timeout = ?",
                        limits, sizeof limits / sizeof *limits, NULL, err))
        return -1;
    if (source) {
        session->last_error = 0;
        if (run_known(session, "SET SESSION idle_readonly_transaction_timeout = ?",
                      SOURCE_STALLED_S, err))
            return -1;
        session->idle_is_limited = !session->last_error;
    }
    if (run_known(session, "SET SESSION max_statement_time = ?", deadline_s, err) ||
        run_known(session, "SET SESSION max_execution_time = ?", deadline_s * 1000, err))
        return -1;
    return 0;
}

static int set_isolation(struct mysql_session *session, struct error *err)
{
    switch (session->base.role) {
    case DB_SOURCE:
        /* Return the stored bytes unconverted, because text that slurmdbd declares as latin1 often
         * has another encoding. */
        if (session_run(session, "SET character_set_results = NULL", err) ||
            session_run(session, "SET SESSION TRANSACTION READ ONLY", err))
            return -1;
        return session_run(session, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", err);
    case DB_READER:
        return session_run(session, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", err);
    case DB_RESULTS:
    case DB_OWNER:
        break;
    }
    /* With innodb_snapshot_isolation, which is on by default since MariaDB 11.6.2, an UPDATE of a
     * range also waits for the row after the range.  That row may belong to another cluster. */
    if (run_known(session, "SET SESSION innodb_snapshot_isolation = ?", 0, err))
        return -1;
    return session_run(session, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", err);
}

static int read_variables(struct mysql_session *session, struct error *err)
{
    const struct db_value *row;
    const struct db_question question = {
        .sql = "SHOW SESSION VARIABLES WHERE \"Variable_name\" IN"
               " ('max_allowed_packet', 'wsrep_on')",
        .column_types = "tt",
    };
    struct db_rows *rows = session_query(&session->base, &question, err);
    if (!rows)
        return -1;
    int got;
    while ((got = session_fetch(rows, &row, err)) > 0) {
        uint64_t bytes;
        if (number_unsigned(row[1].text.bytes, row[1].text.length, &bytes))
            session->packet_bytes = (size_t)bytes;
        else
            session->is_galera = row[1].text.length == 2; /* 'ON', not 'OFF' */
    }
    session_finish(rows);
    return got < 0 ? -1 : 0;
}

/*
 * In a Galera cluster, makes each read wait until this node has applied the changes that other
 * nodes have committed.  Without this setting, a read may miss the latest changes.
 */
static int see_all_nodes(struct mysql_session *session, struct error *err)
{
    return session->is_galera ? session_run(session, "SET SESSION wsrep_sync_wait = 1", err) : 0;
}

static int mysql_driver_set_up(struct mysql_session *session, struct error *err)
{
    /* NO_BACKSLASH_ESCAPES and PIPES_AS_CONCAT give SQL the meaning that it has in other database
     * systems. */
    if (session_run(
            session,
            "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,"
            "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, completion_type = 0, "
            "sql_safe_updates = 0, sql_big_selects = 1, "
            "sql_select_limit = 18446744073709551615",
            err) ||
        session_run(session, "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'", err))
        return -1;
    if (mysql_driver_set_limits(session, err) || set_isolation(session, err) ||
        read_variables(session, err))
        return -1;
    return see_all_nodes(session, err);
}

static struct db *open_session(const struct db_settings *settings, enum db_role role,
                               struct error *err)
{
    struct mysql_session *session = session_connect(settings, role, err);
    if (!session)
        return NULL;
    if (!mysql_driver_set_up(session, err))
        return &session->base;
    session_close(&session->base);
    return NULL;
}

/*
 * Sets the idle limit of a source session, on a server without a separate limit for idle
 * transactions.  The caller passes a shorter limit for the time of a transaction.
 */
static int limit_idle(struct mysql_session *session, int64_t seconds, struct error *err)
{
    struct db_value limit = db_integer(seconds);
    if (session->base.role != DB_SOURCE || session->idle_is_limited)
        return 0;
    return session_execute(&session->base, "SET SESSION wait_timeout = ?", &limit, 1, NULL, err);
}

static int mysql_driver_begin(struct db *db, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    /* In MySQL, BEGIN would commit the previous transaction. */
    if (session->stuck)
        return fail(err, ERROR_GONE, "%s: the previous transaction could not be rolled back",
                    session->base.name);
    bool snapshot = !db_role_writes(db->role);
    if (limit_idle(session, SOURCE_STALLED_S, err) ||
        session_run(session,
                    snapshot ? "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
                             : "START TRANSACTION",
                    err))
        return -1;
    session->in_transaction = true;
    return 0;
}

static int mysql_driver_commit(struct db *db, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    struct error ignored;
    session->in_transaction = false;
    if (session_run(session, "COMMIT", err))
        return -1;
    /* If the connection is lost, the next statement reports it. */
    limit_idle(session, SOURCE_IDLE_S, &ignored);
    return 0;
}

static void mysql_driver_rollback(struct db *db)
{
    struct mysql_session *session = (struct mysql_session *)db;
    struct error ignored;
    session->in_transaction = false;
    if (session_run(session, "ROLLBACK", &ignored))
        session->stuck = true;
    else
        limit_idle(session, SOURCE_IDLE_S, &ignored);
}

static int mysql_driver_set_lock_wait(struct db *db, unsigned seconds, struct error *err)
{
    const struct db_value waits[] = { db_integer(seconds), db_integer(seconds) };
    return session_execute(db, "SET SESSION lock_wait_timeout = ?, innodb_lock_wait_timeout = ?",
                           waits, 2, NULL, err);
}

static int mysql_driver_lock(struct db *db, const char *name, struct error *err)
{
    return db_lock_by_query(db, "SELECT GET_LOCK(?, 0)", db_text(name), name, err);
}

static void mysql_driver_unlock(struct db *db, const char *name)
{
    struct error ignored;
    struct db_value argument = db_text(name);
    session_execute(db, "DO RELEASE_LOCK(?)", &argument, 1, NULL, &ignored);
}

static bool mysql_driver_enter_thread(void)
{
    return !mysql_thread_init();
}

const struct db_module mysql_module = {
    .version = PACKAGE_VERSION,
    .functions.open = open_session,
    .functions.close = session_close,
    .functions.begin = mysql_driver_begin,
    .functions.commit = mysql_driver_commit,
    .functions.rollback = mysql_driver_rollback,
    .functions.replica_lag = session_replica_lag,
    .functions.query = session_query,
    .functions.fetch = session_fetch,
    .functions.finish = session_finish,
    .functions.execute = session_execute,
    .functions.enter_thread = mysql_driver_enter_thread,
    .functions.leave_thread = mysql_thread_end,
    .functions.script = session_script,
    .functions.set_lock_wait = mysql_driver_set_lock_wait,
    .functions.lock = mysql_driver_lock,
    .functions.unlock = mysql_driver_unlock,
    .functions.bulk_begin = session_bulk_begin,
    .functions.bulk_row = session_bulk_row,
    .functions.bulk_send = session_bulk_send,
    .functions.bulk_free = session_bulk_free,
};
