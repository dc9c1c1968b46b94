/* SPDX-License-Identifier: MIT */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "db/pgsql/pgsql_session.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * The lag of a standby.  The server knows when the newest transaction that it has replayed was
 * committed.  That time becomes old while the primary is idle.  So if a standby is connected and
 * has replayed everything it received, its lag is 0.
 */

/*
 * Maximum time, in milliseconds, to wait until the standby has replayed the data that it had
 * received at the first query.  If the standby does so within this time, its lag is the time
 * waited, even if its newest transaction is old.
 */
#define CATCH_UP_MS 2000
#define LOOK_EVERY_MS 50

/*
 * The argument is the WAL position that must be replayed; NULL means the position received so far.
 * The first column is the lag in seconds: 0 if there is no lag, NULL if nothing was ever replayed.
 * The second column is the position received so far, or NULL without a connection to the primary.
 * Every login may read the number of WAL receivers, but not their details.
 */
static const char look[] =
    "SELECT CASE"
    " WHEN NOT pg_catalog.pg_is_in_recovery() THEN 0"
    " WHEN r.connected AND r.replayed >="
    "  COALESCE(CAST(CAST(? AS text) AS pg_catalog.pg_lsn), r.received) THEN 0"
    " WHEN r.newest IS NOT NULL THEN GREATEST(1,"
    "  pg_catalog.ceil(EXTRACT(EPOCH FROM pg_catalog.clock_timestamp() - r.newest))) END,"
    " CASE WHEN r.connected THEN CAST(r.received AS text) END "
    "FROM (SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_stat_wal_receiver) AS connected,"
    "  pg_catalog.pg_last_wal_receive_lsn() AS received,"
    "  pg_catalog.pg_last_wal_replay_lsn() AS replayed,"
    "  pg_catalog.pg_last_xact_replay_timestamp() AS newest) AS r";

/*
 * Queries the lag once.  If `received` is empty and the standby is connected to its primary, sets
 * `received` to the position received so far.
 */
static int look_once(struct db *db, struct text *received, int64_t *lag_s, struct error *err)
{
    struct db_value argument = received->length ? db_text(received->bytes) : db_null();
    const struct db_value *row;
    struct db_rows *rows =
        pgsql_query(db, &(struct db_question){ look, &argument, 1, "it", false }, err);
    if (!rows)
        return -1;
    int got = pgsql_fetch(rows, &row, err);
    if (got == 1) {
        *lag_s = row[0].type == DB_INTEGER ? row[0].integer : DB_LAG_UNBOUNDED;
        if (!received->length && row[1].type == DB_TEXT)
            text_add_bytes(received, row[1].text.bytes, row[1].text.length);
    }
    pgsql_finish(rows);
    return got < 0 ? -1 : 0;
}

static int pgsql_replica_lag(struct db *db, int64_t *lag_s, struct error *err)
{
    struct text received = { 0 };
    int64_t began = clock_milliseconds(), waited = 0;
    int status = look_once(db, &received, lag_s, err);
    while (!status && *lag_s > 0 && received.length && waited < CATCH_UP_MS) {
        usleep(LOOK_EVERY_MS * 1000);
        waited = clock_milliseconds() - began;
        status = look_once(db, &received, lag_s, err);
        if (!status && *lag_s == 0)
            *lag_s = waited / 1000;
    }
    text_free(&received);
    return status;
}

static void pgsql_driver_rollback(struct db *db)
{
    struct error ignored;
    pgsql_run((struct pgsql_session *)db, "ROLLBACK", &ignored);
}

static int pgsql_driver_begin(struct db *db, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    /* If a transaction is open, BEGIN only warns and continues that transaction. */
    if (PQtransactionStatus(session->connection) == PQTRANS_INTRANS ||
        PQtransactionStatus(session->connection) == PQTRANS_INERROR)
        return fail(err, ERROR_GONE, "%s: the previous transaction could not be rolled back",
                    session->base.name);
    /* Write access is the session's default and is not requested here.  A replica would reject such
     * a request; without the request, the first write fails with an error that shows that the
     * server is a replica. */
    if (db_role_writes(db->role))
        return pgsql_run(session, "BEGIN ISOLATION LEVEL READ COMMITTED", err);
    /* BEGIN alone does not take a snapshot; the first query does. */
    if (pgsql_run(session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1", err)) {
        pgsql_driver_rollback(db);
        return -1;
    }
    return 0;
}

/*
 * Fails with ERROR_RETRY if a table that was read has been rewritten or created since the snapshot.
 * To the snapshot such a table looks empty, and the server reports no error.  Column
 * pg_class.relfilenode shows the table's file in the snapshot, and pg_relation_filenode() the
 * current one; they must be the same.  The transaction has locks on the tables that it read, so the
 * result remains valid.  VACUUM FULL keeps the rows but changes the file, so it also causes a
 * retry.
 */
static int check_snapshot(struct db *db, struct error *err)
{
    static const char younger[] =
        "SELECT CAST(CAST(l.relation AS regclass) AS text) FROM pg_catalog.pg_locks l "
        "LEFT JOIN pg_catalog.pg_class c ON c.oid = l.relation "
        "WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation' "
        "AND l.relation >= 16384 " /* the server's own tables have lower OIDs */
        "AND (c.oid IS NULL"
        " OR NULLIF(c.relfilenode, 0) IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid)) "
        "ORDER BY c.relkind DESC LIMIT 1"; /* tables first, then indexes */
    struct pgsql_session *session = (struct pgsql_session *)db;
    const struct db_value *row;
    const struct db_question question = { .sql = younger, .column_types = "t" };
    struct db_rows *rows = pgsql_query(db, &question, err);
    if (!rows)
        return -1;
    int got = pgsql_fetch(rows, &row, err);
    if (got > 0)
        fail(err, ERROR_RETRY, "%s: '%.*s' was altered while it was read", session->base.name,
             (int)row[0].text.length, row[0].text.bytes);
    pgsql_finish(rows);
    return got ? -1 : 0;
}

/*
 * If a statement of the transaction has failed, COMMIT rolls the transaction back and reports no
 * error.
 */
static int pgsql_driver_commit(struct db *db, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    bool broken = PQtransactionStatus(session->connection) == PQTRANS_INERROR;
    if (session->base.role == DB_SOURCE && !broken && check_snapshot(db, err))
        return -1;
    if (pgsql_run(session, "COMMIT", err))
        return -1;
    if (broken)
        return fail(err, ERROR_OTHER,
                    "%s: cannot commit, because a statement of the transaction failed",
                    session->base.name);
    return 0;
}

static int pgsql_driver_set_lock_wait(struct db *db, unsigned seconds, struct error *err)
{
    char digits[24];
    const struct db_value wait = pgsql_milliseconds(digits, seconds);
    return pgsql_execute(db, "SELECT set_config('lock_timeout', ?, false)", &wait, 1, NULL, err);
}

/* Advisory locks have numbers and no names, so use a hash of the name. */
static struct db_value lock_key(const char *name)
{
    return db_integer((int64_t)XXH3_64bits(name, strlen(name)));
}

static int pgsql_driver_lock(struct db *db, const char *name, struct error *err)
{
    return db_lock_by_query(db, "SELECT pg_try_advisory_lock(?)", lock_key(name), name, err);
}

static void pgsql_driver_unlock(struct db *db, const char *name)
{
    struct error ignored;
    struct db_value key = lock_key(name);
    pgsql_execute(db, "SELECT pg_advisory_unlock(?)", &key, 1, NULL, &ignored);
}

const struct db_module pgsql_module = {
    .version = PACKAGE_VERSION,
    .functions.open = pgsql_open,
    .functions.close = pgsql_close,
    .functions.begin = pgsql_driver_begin,
    .functions.commit = pgsql_driver_commit,
    .functions.rollback = pgsql_driver_rollback,
    .functions.replica_lag = pgsql_replica_lag,
    .functions.query = pgsql_query,
    .functions.fetch = pgsql_fetch,
    .functions.finish = pgsql_finish,
    .functions.execute = pgsql_execute,
    .functions.script = pgsql_script,
    .functions.set_lock_wait = pgsql_driver_set_lock_wait,
    .functions.lock = pgsql_driver_lock,
    .functions.unlock = pgsql_driver_unlock,
    .functions.bulk_begin = pgsql_bulk_begin,
    .functions.bulk_row = pgsql_bulk_row,
    .functions.bulk_send = pgsql_bulk_send,
    .functions.bulk_free = pgsql_bulk_free,
};
