/* SPDX-License-Identifier: MIT */
#include "client.h"

#ifdef HAVE_SQLITE

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENT_BYTES 4096

static void require(sqlite3 *sqlite, bool worked)
{
    if (!worked)
        die(sqlite3_errmsg(sqlite));
}

static void run(sqlite3 *sqlite, const char *sql)
{
    require(sqlite, !sqlite3_exec(sqlite, sql, NULL, NULL, NULL));
}

static void *open_session(const char *place)
{
    sqlite3 *sqlite = NULL;
    bool opened =
        !sqlite3_open_v2(place, &sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    require(sqlite, opened);
    run(sqlite, "PRAGMA synchronous = FULL");
    return sqlite;
}

static void close_session(void *session)
{
    sqlite3_close(session);
}

static sqlite3_stmt *prepare(sqlite3 *sqlite, const char *sql)
{
    sqlite3_stmt *statement;
    require(sqlite, !sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL));
    return statement;
}

static const char *const streams[] = { "step", NULL };

static uint64_t stream(void *session, const char *way, const char *sql)
{
    uint64_t count = 0;
    int step;
    (void)way;
    sqlite3_stmt *statement = prepare(session, sql);
    while ((step = sqlite3_step(statement)) == SQLITE_ROW)
        count++;
    require(session, step == SQLITE_DONE);
    sqlite3_finalize(statement);
    return count;
}

static void each(void *session, const char *sql,
                 void (*take)(void *context, const char *const *texts), void *context)
{
    int step;
    sqlite3_stmt *statement = prepare(session, sql);
    int columns = sqlite3_column_count(statement);
    const char **texts = room_for((size_t)columns, sizeof *texts);
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            texts[i] = (const char *)sqlite3_column_text(statement, i);
        take(context, texts);
    }
    require(session, step == SQLITE_DONE);
    free(texts);
    sqlite3_finalize(statement);
}

static void bind_row(sqlite3_stmt *statement, const struct cell *row)
{
    for (int i = 0; i < RESULT_COLUMNS; i++) {
        if (row[i].is_null)
            sqlite3_bind_null(statement, i + 1);
        else if (result_types[i] == 'i')
            sqlite3_bind_int64(statement, i + 1, row[i].integer);
        else if (result_types[i] == 'r')
            sqlite3_bind_double(statement, i + 1, row[i].real);
        else
            sqlite3_bind_text(statement, i + 1, row[i].text, (int)row[i].length, SQLITE_STATIC);
    }
}

static const char *const writes[] = { "delete-insert", "upsert", NULL };

static void replace(void *session, const char *way, const struct result_rows *rows)
{
    bool upsert = !strcmp(way, "upsert");
    char sql[STATEMENT_BYTES] = "";
    add_insert(sql, sizeof sql, false);
    if (upsert) {
        strcat(sql, " ON CONFLICT (cluster, id_assoc) DO UPDATE SET ");
        add_assignments(sql, sizeof sql, "excluded.", "");
    }
    run(session, "BEGIN IMMEDIATE");
    if (!upsert)
        run(session, "DELETE FROM bench_fairshare WHERE cluster = 'bench'");
    sqlite3_stmt *statement = prepare(session, sql);
    for (size_t row = 0; row < rows->count; row++) {
        bind_row(statement, rows->rows[row]);
        require(session, sqlite3_step(statement) == SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    run(session, "COMMIT");
}

const struct client sqlite_client = { "sqlite",      streams, writes, open_session,
                                      close_session, stream,  each,   replace };

#endif
