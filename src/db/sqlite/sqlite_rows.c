/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "db/sqlite/read_ahead.h"
#include "db/sqlite/sqlite_session.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* SQLite has no process of its own that would read while we work on a row, so for a long answer
 * there is a thread.  The session is its alone until the answer is over, as nobody else may use
 * it then. */
#define ROWS_WITHOUT_THREAD 4096

struct sqlite_rows {
    struct db_rows base;
    sqlite3_stmt *statement;
    size_t fetched; /* without the thread */
    struct read_ahead *ahead;
    char *types;
    int count;
    struct db_value values[];
};

struct db_rows *sqlite_query(struct db *base, const struct db_question *question, struct error *err)
{
    sqlite3_stmt *statement;
    if (sqlite_prepare((struct sqlite_db *)base, question->sql, question->arguments,
                       question->argument_count, &statement, err))
        return NULL;
    size_t count = (size_t)sqlite3_column_count(statement);
    if (db_check_columns(base, count, question->column_types, err)) {
        sqlite3_finalize(statement);
        return NULL;
    }

    struct sqlite_rows *rows = memory_zeroed(1, sizeof *rows + count * sizeof *rows->values);
    rows->base.db = base;
    rows->statement = statement;
    rows->types = memory_text(question->column_types);
    rows->count = (int)count;
    return &rows->base;
}

/* Values are taken from a sqlite3_value, which without mutexes may be read like any other, since
 * that asks SQLite for the column once and not once for each of type, value and length. */
static int sqlite_rows_read_value(sqlite3_stmt *statement, int column, char type,
                                  struct db_value *value, struct error *err)
{
    sqlite3_value *stored = sqlite3_column_value(statement, column);
    switch (sqlite3_value_type(stored)) {
    case SQLITE_INTEGER:
        value->type = DB_INTEGER;
        value->integer = sqlite3_value_int64(stored);
        if (type == 't')
            *value = db_text((const char *)sqlite3_value_text(stored));
        break;
    case SQLITE_FLOAT:
        *value = db_real(sqlite3_value_double(stored));
        break;
    case SQLITE_NULL:
        value->type = DB_NULL;
        break;
    default: {
        const char *bytes = sqlite3_value_blob(stored);
        *value = db_bytes(bytes ? bytes : "", (size_t)sqlite3_value_bytes(stored));
    }
    }
    if (db_value_is(value, type))
        return 0;
    return db_value_fit(value, type, sqlite3_column_name(statement, column), err);
}

static int sqlite_rows_read_row(void *context, const struct db_value **row, struct error *err)
{
    struct sqlite_rows *rows = context;
    switch (sqlite3_step(rows->statement)) {
    case SQLITE_ROW:
        break;
    case SQLITE_DONE:
        return 0;
    default:
        return sqlite_fail((struct sqlite_db *)rows->base.db, err);
    }
    for (int i = 0; i < rows->count; i++)
        if (sqlite_rows_read_value(rows->statement, i, rows->types[i], &rows->values[i], err))
            return -1;
    *row = rows->values;
    return 1;
}

int sqlite_fetch(struct db_rows *base, const struct db_value **row, struct error *err)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    if (!rows->ahead && rows->fetched++ == ROWS_WITHOUT_THREAD && sqlite3_threadsafe())
        rows->ahead = read_ahead_start(sqlite_rows_read_row, rows, (size_t)rows->count);
    return rows->ahead ? read_ahead_next(rows->ahead, row, err)
                       : sqlite_rows_read_row(rows, row, err);
}

void sqlite_finish(struct db_rows *base)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    /* The next row may be long in coming.  Where all have come this does nothing. */
    if (rows->ahead)
        sqlite3_interrupt(((struct sqlite_db *)base->db)->sqlite);
    read_ahead_stop(rows->ahead);
    sqlite3_finalize(rows->statement);
    free(rows->types);
    free(rows);
}

/* Bulk writes: inside one transaction, row by row is as fast as SQLite gets. */

struct sqlite_bulk {
    struct db_bulk base;
    sqlite3_stmt *statement;
};

struct db_bulk *sqlite_bulk_begin(const struct db_bulk *target, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)target->db;
    struct sqlite_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    bulk->base = *target;
    struct text sql = { 0 };
    db_add_insert(&sql, &bulk->base);
    db_add_values(&sql, &bulk->base, 1);
    db_add_on_conflict(&sql, &bulk->base);
    int prepared = sqlite_compile(db, sql.bytes, &bulk->statement, err);
    text_free(&sql);
    if (!prepared)
        return &bulk->base;
    sqlite_bulk_free(&bulk->base);
    return NULL;
}

int sqlite_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    struct sqlite_db *db = (struct sqlite_db *)base->db;
    sqlite_start_clock(db);
    for (size_t i = 0; i < base->column_count; i++)
        if (sqlite_bind(bulk->statement, (int)i + 1, &row[i]) != SQLITE_OK)
            return sqlite_fail(db, err);
    if (sqlite3_step(bulk->statement) != SQLITE_DONE) {
        sqlite_fail(db, err);
        sqlite3_reset(bulk->statement);
        return -1;
    }
    sqlite3_reset(bulk->statement);
    return 0;
}

void sqlite_bulk_free(struct db_bulk *base)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    sqlite3_finalize(bulk->statement);
    free(bulk);
}
