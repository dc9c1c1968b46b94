/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "db/sqlite/read_ahead.h"
#include "db/sqlite/sqlite_session.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Two ways to read rows:
 *
 *   - The caller's thread steps from row to row.
 *   - If many rows are expected, a second thread runs a query that calls an aggregate function for
 *     each row.  This needs one step for all rows, and the function gets the values without copies
 *     of them.
 *
 * The second thread needs a threadsafe SQLite.  Only that thread may use the session until the
 * query is finished.
 */

struct sqlite_rows {
    struct db_rows base;
    sqlite3_stmt *statement;
    sqlite3_stmt *taking; /* the query that calls the aggregate function, or NULL */
    struct read_ahead *ahead;
    char *types;
    int count;
    /* For the aggregate function: where it adds rows, its error, and whether it failed or stopped.
     */
    struct read_ahead *target;
    struct error *err;
    bool ended;
    struct db_value values[];
};

/* Reads a value other than an integer in an integer column, or converts a value of another type. */
static int sqlite_rows_convert(const struct sqlite_rows *rows, int column, sqlite3_value *stored,
                               struct db_value *value, struct error *err)
{
    char type = rows->types[column];
    switch (sqlite3_value_type(stored)) {
    case SQLITE_INTEGER:
        *value = type == 't' ? db_text((const char *)sqlite3_value_text(stored))
                             : db_integer(sqlite3_value_int64(stored));
        break;
    case SQLITE_FLOAT:
        *value = db_real(sqlite3_value_double(stored));
        break;
    case SQLITE_NULL:
        *value = db_null();
        break;
    default: {
        /* Ask for the length first: in a database with UTF-16, this converts the text. */
        size_t length = (size_t)sqlite3_value_bytes(stored);
        const char *bytes = sqlite3_value_blob(stored);
        *value = db_bytes(bytes ? bytes : "", length);
    }
    }
    if (db_value_is(value, type))
        return 0;
    return db_value_fit(value, type, sqlite3_column_name(rows->statement, column), err);
}

/* Called for every value that is read, so most of them need no further call. */
static inline int sqlite_rows_read_value(const struct sqlite_rows *rows, int column,
                                         sqlite3_value *stored, struct db_value *value,
                                         struct error *err)
{
    int type = sqlite3_value_type(stored);
    if (type == SQLITE_INTEGER && rows->types[column] == 'i') {
        value->type = DB_INTEGER;
        value->integer = sqlite3_value_int64(stored);
        return 0;
    }
    return sqlite_rows_convert(rows, column, stored, value, err);
}

/*
 * Gets each column as a sqlite3_value, so that SQLite looks the column up once, and not separately
 * for type, value and length.  SQLite calls such a value unprotected; reading it is safe because
 * the session uses no mutex.
 */
static int sqlite_rows_read_row(struct sqlite_rows *rows, struct db_value *row, struct error *err)
{
    switch (sqlite3_step(rows->statement)) {
    case SQLITE_ROW:
        break;
    case SQLITE_DONE:
        return 0;
    default:
        return sqlite_fail((struct sqlite_db *)rows->base.db, err);
    }
    for (int i = 0; i < rows->count; i++)
        if (sqlite_rows_read_value(rows, i, sqlite3_column_value(rows->statement, i), &row[i], err))
            return -1;
    return 1;
}

static int sqlite_rows_take_row(struct sqlite_rows *rows, sqlite3_value **stored)
{
    struct db_value *row = read_ahead_row(rows->target);
    if (!row)
        return -1;
    for (int i = 0; i < rows->count; i++)
        if (sqlite_rows_read_value(rows, i, stored[i], &row[i], rows->err))
            return -1;
    return read_ahead_add(rows->target, rows->err);
}

/* The aggregate function.  It ends the query with an error if the consumer has stopped. */
static void sqlite_rows_take(sqlite3_context *context, int count, sqlite3_value **stored)
{
    struct sqlite_rows *rows = ((struct sqlite_db *)sqlite3_user_data(context))->taken;
    if (rows && rows->count == count && !sqlite_rows_take_row(rows, stored))
        return;
    if (rows)
        rows->ended = true;
    sqlite3_result_error(context, "the query was ended", -1);
}

static void sqlite_rows_return_nothing(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

int sqlite_know_take(struct sqlite_db *db)
{
/* Headers before 3.30 do not define this flag, and releases before 3.30 ignore it. */
#ifndef SQLITE_DIRECTONLY
#define SQLITE_DIRECTONLY 0x80000
#endif
    return sqlite3_create_function(db->sqlite, SQLITE_TAKE, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, db,
                                   NULL, sqlite_rows_take, sqlite_rows_return_nothing);
}

static int sqlite_rows_take_ahead(void *context, struct read_ahead *ahead, struct error *err)
{
    struct sqlite_rows *rows = context;
    rows->target = ahead;
    rows->err = err;
    if (sqlite3_step(rows->taking) == SQLITE_ROW)
        return 0;
    return rows->ended ? -1 : sqlite_fail((struct sqlite_db *)rows->base.db, err);
}

/*
 * Writes the query as a subquery of one that calls the aggregate function.  SQLite merges the two,
 * or, for an ORDER BY and the like, runs the subquery as a coroutine.  It does neither sort nor
 * store the rows for the function.
 */
static void add_taking_query(struct text *sql, const struct sqlite_rows *rows, const char *query)
{
    text_add(sql, "WITH fairmill_taken (");
    for (int i = 0; i < rows->count; i++)
        text_format(sql, i ? ", c%d" : "c%d", i);
    text_format(sql, ") AS (\n%s\n) SELECT " SQLITE_TAKE "(", query);
    for (int i = 0; i < rows->count; i++)
        text_format(sql, i ? ", c%d" : "c%d", i);
    text_add(sql, ") FROM fairmill_taken");
}

/* Does nothing if this SQLite cannot do it: then the rows are read step by step. */
static int sqlite_rows_start_taking(struct sqlite_rows *rows, const struct db_question *question,
                                    struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)rows->base.db;
    if (!sqlite3_threadsafe() ||
        rows->count > sqlite3_limit(db->sqlite, SQLITE_LIMIT_FUNCTION_ARG, -1))
        return 0;
    struct text sql = { 0 };
    add_taking_query(&sql, rows, question->sql);
    int result = sqlite_prepare(db, sql.bytes, question->arguments, question->argument_count,
                                &rows->taking, err);
    text_free(&sql);
    if (result)
        return -1;
    db->taken = rows;
    rows->ahead = read_ahead_start(sqlite_rows_take_ahead, rows, rows->types);
    return 0;
}

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
    if (question->has_many_rows && sqlite_rows_start_taking(rows, question, err)) {
        sqlite_finish(&rows->base);
        return NULL;
    }
    return &rows->base;
}

int sqlite_fetch(struct db_rows *base, const struct db_value **row, struct error *err)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    if (rows->ahead)
        return read_ahead_next(rows->ahead, row, err);
    *row = rows->values;
    return sqlite_rows_read_row(rows, rows->values, err);
}

void sqlite_finish(struct db_rows *base)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    struct sqlite_db *db = (struct sqlite_db *)base->db;
    /* Interrupt the read of the next row, which may take long.  After the last row, an interrupt
     * has no effect. */
    if (rows->ahead)
        sqlite3_interrupt(db->sqlite);
    read_ahead_stop(rows->ahead);
    db->taken = NULL;
    sqlite3_finalize(rows->taking);
    sqlite3_finalize(rows->statement);
    free(rows->types);
    free(rows);
}

/* Bulk writes.  Within a transaction, SQLite is fastest when rows are inserted one by one. */

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
