/* SPDX-License-Identifier: MIT */
#include "db/pgsql/pgsql_session.h"

#include <unistd.h>

#include "util/log.h"
#include "util/text.h"

/* How far a standby is behind.  The server knows when the newest transaction that it has replayed
 * was committed, which says nothing while the primary is idle; so a standby that is connected and
 * has replayed all that it has received is not behind. */

/* Whatever arrives has to be replayed.  A standby that does so within this time is not behind
 * either, though its newest transaction may be of yesterday. */
#define CATCH_UP_MS 2000
#define LOOK_EVERY_MS 50

/* The argument: what has to be replayed; NULL: what has been received by now.  The answer: the lag,
 * 0 where there is none, NULL where nothing was ever replayed; and what has been received by now,
 * NULL without a connection to the primary.  Only its number is shown to everybody, no details. */
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

/* `received` is set by the first look that finds a connection. */
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

int pgsql_replica_lag(struct db *db, int64_t *lag_s, struct error *err)
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
