/* SPDX-License-Identifier: MIT */
#include "client.h"

#ifdef HAVE_PGSQL

#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENT_BYTES 8192
#define CHUNK_BYTES 65536

static void require(PGconn *connection, bool worked)
{
    if (!worked)
        die(PQerrorMessage(connection));
}

static void *open_session(const char *place)
{
    PGconn *connection = PQconnectdb(place);
    require(connection, PQstatus(connection) == CONNECTION_OK);
    return connection;
}

static void close_session(void *session)
{
    PQfinish(session);
}

static void run(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    require(connection, PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
}

static uint64_t stream_rows(PGconn *connection, const char *sql, int format)
{
    uint64_t count = 0;
    PGresult *result;
    require(connection, PQsendQueryParams(connection, sql, 0, NULL, NULL, NULL, NULL, format) &&
                            PQsetSingleRowMode(connection));
    while ((result = PQgetResult(connection))) {
        if (PQresultStatus(result) == PGRES_SINGLE_TUPLE)
            count++;
        else
            require(connection, PQresultStatus(result) == PGRES_TUPLES_OK);
        PQclear(result);
    }
    return count;
}

static uint64_t stream_copy(PGconn *connection, const char *query)
{
    char sql[STATEMENT_BYTES];
    if (snprintf(sql, sizeof sql, "COPY (%s) TO STDOUT (FORMAT binary)", query) >= (int)sizeof sql)
        die("the query is too long");
    PGresult *result = PQexec(connection, sql);
    require(connection, PQresultStatus(result) == PGRES_COPY_OUT);
    PQclear(result);
    uint64_t count = 0;
    char *row;
    while (PQgetCopyData(connection, &row, 0) > 0) {
        count++;
        PQfreemem(row);
    }
    result = PQgetResult(connection);
    require(connection, PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
    while ((result = PQgetResult(connection)))
        PQclear(result);
    /* The header comes with the first row, but the trailer is a separate message. */
    return count ? count - 1 : 0;
}

static const char *const streams[] = { "rows", "binary-rows", "copy", NULL };

static uint64_t stream(void *session, const char *way, const char *sql)
{
    return strcmp(way, "copy") ? stream_rows(session, sql, !strcmp(way, "binary-rows"))
                               : stream_copy(session, sql);
}

static void each(void *session, const char *sql,
                 void (*take)(void *context, const char *const *texts), void *context)
{
    PGresult *result = PQexec(session, sql);
    require(session, PQresultStatus(result) == PGRES_TUPLES_OK);
    int columns = PQnfields(result);
    const char **texts = room_for((size_t)columns, sizeof *texts);
    for (int row = 0; row < PQntuples(result); row++) {
        for (int i = 0; i < columns; i++)
            texts[i] = PQgetisnull(result, row, i) ? NULL : PQgetvalue(result, row, i);
        take(context, texts);
    }
    free(texts);
    PQclear(result);
}

/* COPY's binary format: for each value, its length and its bytes in network byte order. */

struct chunk {
    PGconn *connection;
    size_t used;
    char bytes[CHUNK_BYTES];
};

static void put(struct chunk *chunk, const void *bytes, size_t length)
{
    if (chunk->used + length > CHUNK_BYTES) {
        require(chunk->connection,
                PQputCopyData(chunk->connection, chunk->bytes, (int)chunk->used) == 1);
        chunk->used = 0;
    }
    memcpy(chunk->bytes + chunk->used, bytes, length);
    chunk->used += length;
}

static void put_16(struct chunk *chunk, uint16_t number)
{
    number = htobe16(number);
    put(chunk, &number, sizeof number);
}

static void put_32(struct chunk *chunk, uint32_t number)
{
    number = htobe32(number);
    put(chunk, &number, sizeof number);
}

static void put_cell(struct chunk *chunk, char type, const struct cell *cell)
{
    uint64_t bits;
    if (cell->is_null) {
        put_32(chunk, (uint32_t)-1);
    } else if (type == 't') {
        put_32(chunk, (uint32_t)cell->length);
        put(chunk, cell->text, cell->length);
    } else {
        memcpy(&bits, type == 'i' ? (const void *)&cell->integer : &cell->real, sizeof bits);
        bits = htobe64(bits);
        put_32(chunk, sizeof bits);
        put(chunk, &bits, sizeof bits);
    }
}

static void copy_in(PGconn *connection, const char *table, const struct result_rows *rows)
{
    char sql[STATEMENT_BYTES], columns[STATEMENT_BYTES / 2] = "";
    add_columns(columns, sizeof columns);
    snprintf(sql, sizeof sql, "COPY %s%s FROM STDIN (FORMAT binary)", table, columns);
    PGresult *result = PQexec(connection, sql);
    require(connection, PQresultStatus(result) == PGRES_COPY_IN);
    PQclear(result);
    struct chunk chunk = { .connection = connection };
    put(&chunk, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0", 19);
    for (size_t row = 0; row < rows->count; row++) {
        put_16(&chunk, RESULT_COLUMNS);
        for (int i = 0; i < RESULT_COLUMNS; i++)
            put_cell(&chunk, result_types[i], &rows->rows[row][i]);
    }
    put_16(&chunk, (uint16_t)-1);
    require(connection, PQputCopyData(connection, chunk.bytes, (int)chunk.used) == 1 &&
                            PQputCopyEnd(connection, NULL) == 1);
    while ((result = PQgetResult(connection))) {
        require(connection, PQresultStatus(result) == PGRES_COMMAND_OK);
        PQclear(result);
    }
}

static const char *const writes[] = { "delete-copy", "staged-upsert", NULL };

static void replace(void *session, const char *way, const struct result_rows *rows)
{
    bool upsert = !strcmp(way, "staged-upsert");
    char sql[STATEMENT_BYTES] = "INSERT INTO bench_fairshare SELECT * FROM staged"
                                " ON CONFLICT (cluster, id_assoc) DO UPDATE SET ";
    run(session, "BEGIN");
    if (upsert) {
        run(session, "CREATE TEMPORARY TABLE staged (LIKE bench_fairshare) ON COMMIT DROP");
        copy_in(session, "staged", rows);
        add_assignments(sql, sizeof sql, "excluded.", "");
        run(session, sql);
    } else {
        run(session, "DELETE FROM bench_fairshare WHERE cluster = 'bench'");
        copy_in(session, "bench_fairshare", rows);
    }
    run(session, "COMMIT");
}

const struct client pgsql_client = { "pgsql",       streams, writes, open_session,
                                     close_session, stream,  each,   replace };

#endif
