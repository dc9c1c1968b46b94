/* SPDX-License-Identifier: MIT */
#include "client.h"

#ifdef HAVE_MYSQL

#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 1000
#define TEXT_ROOM 256
#define STATEMENT_BYTES 4096

static void require(MYSQL *mysql, bool worked)
{
    if (!worked)
        die(mysql_error(mysql));
}

static void require_statement(MYSQL_STMT *statement, bool worked)
{
    if (!worked)
        die(mysql_stmt_error(statement));
}

static void *open_session(const char *place)
{
    char socket[256];
    const char *colon = strrchr(place, ':');
    if (!colon || (size_t)(colon - place) >= sizeof socket)
        die("the place for mysql must be SOCKET:DATABASE");
    snprintf(socket, sizeof socket, "%.*s", (int)(colon - place), place);
    MYSQL *mysql = mysql_init(NULL);
    require(mysql, mysql_real_connect(mysql, NULL, "root", NULL, colon + 1, 0, socket, 0) &&
                       !mysql_query(mysql, "SET SESSION sql_mode = 'ANSI_QUOTES,"
                                           "STRICT_ALL_TABLES', NAMES utf8mb4"));
    return mysql;
}

static void close_session(void *session)
{
    mysql_close(session);
}

/* Reads rows with the text protocol, one by one. */
static uint64_t stream_text(MYSQL *mysql, const char *sql)
{
    uint64_t count = 0;
    require(mysql, !mysql_query(mysql, sql));
    MYSQL_RES *result = mysql_use_result(mysql);
    require(mysql, result);
    while (mysql_fetch_row(result))
        count++;
    require(mysql, !mysql_errno(mysql));
    mysql_free_result(result);
    return count;
}

/* The buffer for a column's value. */
union room {
    long long integer;
    double real;
    char text[TEXT_ROOM];
};

/* Reads the rows of a prepared statement, and stores each value in a typed buffer. */
static uint64_t stream_prepared(MYSQL *mysql, const char *sql)
{
    MYSQL_STMT *statement = mysql_stmt_init(mysql);
    require_statement(statement, !mysql_stmt_prepare(statement, sql, (unsigned long)strlen(sql)) &&
                                     !mysql_stmt_execute(statement));
    unsigned columns = mysql_stmt_field_count(statement);
    MYSQL_RES *described = mysql_stmt_result_metadata(statement);
    MYSQL_BIND *buffers = room_for(columns, sizeof *buffers);
    union room *rooms = room_for(columns, sizeof *rooms);
    unsigned long *lengths = room_for(columns, sizeof *lengths);
    for (unsigned i = 0; i < columns; i++) {
        enum enum_field_types type = mysql_fetch_field_direct(described, i)->type;
        bool real = type == MYSQL_TYPE_DOUBLE, integer = IS_NUM(type) && !real;
        buffers[i].buffer_type = real      ? MYSQL_TYPE_DOUBLE
                                 : integer ? MYSQL_TYPE_LONGLONG
                                           : MYSQL_TYPE_STRING;
        buffers[i].buffer = &rooms[i];
        buffers[i].buffer_length = TEXT_ROOM;
        buffers[i].length = &lengths[i];
    }
    mysql_free_result(described);
    require_statement(statement, !mysql_stmt_bind_result(statement, buffers));
    uint64_t count = 0;
    int got;
    while (!(got = mysql_stmt_fetch(statement)) || got == MYSQL_DATA_TRUNCATED)
        count++;
    require_statement(statement, got == MYSQL_NO_DATA);
    mysql_stmt_close(statement);
    free(buffers);
    free(rooms);
    free(lengths);
    return count;
}

static const char *const streams[] = { "prepared", "text", NULL };

static uint64_t stream(void *session, const char *way, const char *sql)
{
    return strcmp(way, "text") ? stream_prepared(session, sql) : stream_text(session, sql);
}

static void each(void *session, const char *sql,
                 void (*take)(void *context, const char *const *texts), void *context)
{
    MYSQL_ROW row;
    require(session, !mysql_query(session, sql));
    MYSQL_RES *result = mysql_use_result(session);
    require(session, result);
    while ((row = mysql_fetch_row(result)))
        take(context, (const char *const *)row);
    require(session, !mysql_errno(session));
    mysql_free_result(result);
}

#if HAVE_DECL_STMT_ATTR_ARRAY_SIZE
static const char *const writes[] = { "delete-arrays", "upsert-arrays", NULL };

/* The values of one column of a batch, in the form that the library binds. */
struct array {
    union {
        long long integers[BATCH_ROWS];
        double reals[BATCH_ROWS];
        const char *texts[BATCH_ROWS];
    };
    unsigned long lengths[BATCH_ROWS];
    char nulls[BATCH_ROWS];
};

static void fill_array(struct array *array, int column, const struct result_rows *rows,
                       size_t first, unsigned count)
{
    for (unsigned row = 0; row < count; row++) {
        const struct cell *cell = &rows->rows[first + row][column];
        array->nulls[row] = cell->is_null ? STMT_INDICATOR_NULL : STMT_INDICATOR_NONE;
        array->lengths[row] = cell->length;
        if (result_types[column] == 'i')
            array->integers[row] = cell->integer;
        else if (result_types[column] == 'r')
            array->reals[row] = cell->real;
        else
            array->texts[row] = cell->is_null ? "" : cell->text;
    }
}

static void send_batch(MYSQL_STMT *statement, struct array *arrays, const struct result_rows *rows,
                       size_t first)
{
    MYSQL_BIND parameters[RESULT_COLUMNS];
    unsigned count =
        rows->count - first < BATCH_ROWS ? (unsigned)(rows->count - first) : BATCH_ROWS;
    memset(parameters, 0, sizeof parameters);
    for (int i = 0; i < RESULT_COLUMNS; i++) {
        fill_array(&arrays[i], i, rows, first, count);
        parameters[i].buffer_type = result_types[i] == 'i'   ? MYSQL_TYPE_LONGLONG
                                    : result_types[i] == 'r' ? MYSQL_TYPE_DOUBLE
                                                             : MYSQL_TYPE_STRING;
        parameters[i].buffer = &arrays[i];
        parameters[i].length = arrays[i].lengths;
        parameters[i].u.indicator = arrays[i].nulls;
    }
    require_statement(statement, !mysql_stmt_attr_set(statement, STMT_ATTR_ARRAY_SIZE, &count) &&
                                     !mysql_stmt_bind_param(statement, parameters) &&
                                     !mysql_stmt_execute(statement));
}

static void replace(void *session, const char *way, const struct result_rows *rows)
{
    MYSQL *mysql = session;
    char sql[STATEMENT_BYTES] = "";
    struct array *arrays = room_for(RESULT_COLUMNS, sizeof *arrays);
    bool upsert = !strcmp(way, "upsert-arrays");
    add_insert(sql, sizeof sql, false);
    if (upsert) {
        strcat(sql, " ON DUPLICATE KEY UPDATE ");
        add_assignments(sql, sizeof sql, "VALUES(", ")");
    }
    require(mysql, !mysql_query(mysql, "START TRANSACTION") &&
                       (upsert || !mysql_query(mysql, "DELETE FROM bench_fairshare"
                                                      " WHERE cluster = 'bench'")));
    MYSQL_STMT *statement = mysql_stmt_init(mysql);
    require_statement(statement, !mysql_stmt_prepare(statement, sql, (unsigned long)strlen(sql)));
    for (size_t first = 0; first < rows->count; first += BATCH_ROWS)
        send_batch(statement, arrays, rows, first);
    mysql_stmt_close(statement);
    require(mysql, !mysql_query(mysql, "COMMIT"));
    free(arrays);
}
#else
static const char *const writes[] = { NULL };

static void replace(void *session, const char *way, const struct result_rows *rows)
{
    (void)session;
    (void)way;
    (void)rows;
    die("this client library cannot bind arrays");
}
#endif

const struct client mysql_client = { "mysql",       streams, writes, open_session,
                                     close_session, stream,  each,   replace };

#endif
