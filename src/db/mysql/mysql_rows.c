/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "db/mysql/mysql_session.h"
#include "util/error.h"
#include "util/memory.h"

/* Initial buffer size for texts.  A longer text enlarges its buffer. */
#define TEXT_ROOM 256

/*
 * The wire type of a column.  It is the closest type to the stored type, so that the library does
 * not convert values.
 */
enum wire {
    WIRE_INTEGER,
    WIRE_REAL,
    WIRE_TEXT,
};

struct mysql_rows_answer_column {
    enum wire wire;
    bool is_unsigned;
    bool fits; /* the wire type is the requested type */
    char type; /* requested type */
    mysql_flag is_null;
    mysql_flag is_cut;
    int64_t integer;
    double real;
    char *bytes;
    size_t room;
    unsigned long length;
    char *name;
};

struct mysql_rows {
    struct db_rows base;
    MYSQL_STMT *statement;
    MYSQL_BIND *buffers;
    struct mysql_rows_answer_column *columns;
    struct db_value *values;
    size_t count;
    bool ended;
};

static enum wire wire_of(enum enum_field_types stored, char asked)
{
    switch (stored) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
        return asked == 't' ? WIRE_TEXT : WIRE_INTEGER;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
        return WIRE_REAL;
    default:
        /* Includes decimals, because some sums of integers are decimals. */
        return WIRE_TEXT;
    }
}

static void describe_column(struct mysql_rows_answer_column *column, const MYSQL_FIELD *field,
                            char type)
{
    column->type = type;
    column->name = memory_text(field->name);
    column->wire = wire_of(field->type, type);
    column->is_unsigned = field->flags & UNSIGNED_FLAG;
    column->fits = (type == 'i' && column->wire == WIRE_INTEGER) ||
                   (type == 'r' && column->wire == WIRE_REAL) ||
                   (type == 't' && column->wire == WIRE_TEXT);
}

static void make_text_room(struct mysql_rows_answer_column *column, MYSQL_BIND *buffer, size_t room)
{
    column->bytes = memory_resized(column->bytes, room, 1);
    column->room = room;
    buffer->buffer = column->bytes;
    buffer->buffer_length = room;
}

static void attach_buffer(struct mysql_rows_answer_column *column, MYSQL_BIND *buffer)
{
    buffer->is_null = &column->is_null;
    buffer->error = &column->is_cut;
    buffer->length = &column->length;
    switch (column->wire) {
    case WIRE_INTEGER:
        buffer->buffer_type = MYSQL_TYPE_LONGLONG;
        buffer->is_unsigned = column->is_unsigned;
        buffer->buffer = &column->integer;
        break;
    case WIRE_REAL:
        buffer->buffer_type = MYSQL_TYPE_DOUBLE;
        buffer->buffer = &column->real;
        break;
    case WIRE_TEXT:
        buffer->buffer_type = MYSQL_TYPE_STRING;
        make_text_room(column, buffer, TEXT_ROOM);
        break;
    }
}

static void free_rows(struct mysql_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->columns[i].bytes);
        free(rows->columns[i].name);
    }
    free(rows->columns);
    free(rows->buffers);
    free(rows->values);
    if (rows->statement)
        mysql_stmt_close(rows->statement);
    free(rows);
}

static int attach_buffers(struct mysql_rows *rows, const char *types, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)rows->base.db;
    size_t count = mysql_stmt_field_count(rows->statement);
    if (db_check_columns(rows->base.db, count, types, err))
        return -1;

    MYSQL_RES *description = mysql_stmt_result_metadata(rows->statement);
    if (!description)
        return session_fail_statement(session, rows->statement, err);
    rows->columns = memory_zeroed(count, sizeof *rows->columns);
    rows->buffers = memory_zeroed(count, sizeof *rows->buffers);
    rows->values = memory_zeroed(count, sizeof *rows->values);
    rows->count = count;
    for (size_t i = 0; i < count; i++) {
        describe_column(&rows->columns[i], mysql_fetch_field(description), types[i]);
        attach_buffer(&rows->columns[i], &rows->buffers[i]);
    }
    mysql_free_result(description);
    if (mysql_stmt_bind_result(rows->statement, rows->buffers))
        return session_fail_statement(session, rows->statement, err);
    return 0;
}

struct db_rows *session_query(struct db *db, const struct db_question *question, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)db;
    MYSQL_STMT *statement = session_prepare(session, question->sql, err);
    if (!statement)
        return NULL;
    struct mysql_rows *rows = memory_zeroed(1, sizeof *rows);
    rows->base.db = db;
    rows->statement = statement;
    /* Use neither a cursor nor mysql_stmt_store_result(), so that rows arrive while they are read.
     */
    if (session_send(session, statement, question->arguments, question->argument_count, err) ||
        attach_buffers(rows, question->column_types, err)) {
        free_rows(rows);
        return NULL;
    }
    return &rows->base;
}

/* Fetches the texts of this row again if they were longer than their buffers. */
static int fetch_long_texts(struct mysql_rows *rows, struct error *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct mysql_rows_answer_column *column = &rows->columns[i];
        MYSQL_BIND *buffer = &rows->buffers[i];
        if (column->wire != WIRE_TEXT || column->length <= column->room)
            continue;
        make_text_room(column, buffer, column->length + column->length / 2);
        if (mysql_stmt_fetch_column(rows->statement, buffer, (unsigned)i, 0))
            return session_fail_statement((struct mysql_session *)rows->base.db, rows->statement,
                                          err);
    }
    /* Bind the buffers after all texts are fetched, because binding makes the library forget the
     * row. */
    if (mysql_stmt_bind_result(rows->statement, rows->buffers))
        return session_fail_statement((struct mysql_session *)rows->base.db, rows->statement, err);
    return 0;
}

static void mysql_rows_read_value(const struct mysql_rows_answer_column *column,
                                  struct db_value *value)
{
    if (column->is_null) {
        value->type = DB_NULL;
        return;
    }
    switch (column->wire) {
    case WIRE_INTEGER:
        value->type = column->is_unsigned && column->integer < 0 ? DB_UNSIGNED : DB_INTEGER;
        value->integer = column->integer;
        break;
    case WIRE_REAL:
        value->type = DB_REAL;
        value->real = column->real;
        break;
    case WIRE_TEXT:
        *value = db_bytes(column->bytes, column->length);
        break;
    }
}

int session_fetch(struct db_rows *base, const struct db_value **row, struct error *err)
{
    struct mysql_rows *rows = (struct mysql_rows *)base;
    switch (mysql_stmt_fetch(rows->statement)) {
    case 0:
        break;
    case MYSQL_DATA_TRUNCATED:
        if (fetch_long_texts(rows, err))
            return -1;
        break;
    case MYSQL_NO_DATA:
        rows->ended = true;
        return 0;
    default:
        rows->ended = true;
        return session_fail_statement((struct mysql_session *)base->db, rows->statement, err);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct mysql_rows_answer_column *column = &rows->columns[i];
        mysql_rows_read_value(column, &rows->values[i]);
        if (!column->fits && db_value_fit(&rows->values[i], column->type, column->name, err))
            return -1;
    }
    *row = rows->values;
    return 1;
}

/*
 * The remaining rows of a result must be read before the session can be used again.  If there are
 * many of them, another session makes the server end the query.  This session, its transaction and
 * its locks are kept.
 */
void session_finish(struct db_rows *base)
{
    struct mysql_rows *rows = (struct mysql_rows *)base;
    for (int i = 0; !rows->ended && i < ROWS_TO_READ_ON; i++) {
        int got = mysql_stmt_fetch(rows->statement);
        rows->ended = got != 0 && got != MYSQL_DATA_TRUNCATED;
    }
    if (!rows->ended)
        session_cancel((struct mysql_session *)base->db);
    free_rows(rows);
}
