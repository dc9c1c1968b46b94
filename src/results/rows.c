/* SPDX-License-Identifier: MIT */
#include "results/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/text.h"

#define INFINITE 1e100

/* Maximum number of arguments before the ids. */
#define KEY_VALUES 2

struct db_value rows_real(double number)
{
    if (isnan(number))
        return db_null();
    return db_real(isinf(number) ? copysign(INFINITE, number) : number);
}

double rows_real_of(const struct db_value *value)
{
    double real = db_value_real(value);
    return fabs(real) >= INFINITE ? copysign(INFINITY, real) : real;
}

struct db_value rows_integer(int64_t number)
{
    return number < 0 ? db_null() : db_integer(number);
}

struct db_value rows_text(const char *text, struct text *converted)
{
    size_t length = strlen(text);
    if (utf8_valid(text, length))
        return db_bytes(text, length);
    converted->length = 0;
    text_add_as_utf8(converted, text, length);
    return db_bytes(converted->bytes, converted->length);
}

struct db_value rows_bits(uint64_t bits)
{
    return db_integer((int64_t)bits);
}

uint64_t rows_bits_of(const struct db_value *value)
{
    return (uint64_t)db_value_integer(value, 0);
}

int rows_read_integer(struct db *db, const char *sql, const struct db_value *arguments,
                      size_t count, int64_t *integer, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql, arguments, count, "i", err);
    bool found = db_fetch(rows, &row, err) > 0 && row[0].type == DB_INTEGER;
    if (found)
        *integer = row[0].integer;
    return db_finish(rows) ? -1 : found;
}

static void rows_begin(struct row_writer *writer, const struct row_field *fields, size_t count,
                       struct error *err)
{
    writer->begun = true;
    writer->columns = memory_zeroed(count, sizeof *writer->columns);
    writer->values = memory_zeroed(count, sizeof *writer->values);
    for (size_t i = 0; i < count; i++)
        writer->columns[i] = (struct db_column){ fields[i].column, fields[i].type };
    writer->bulk =
        db_bulk_begin(writer->db, writer->table, writer->columns, count, writer->keys, err);
}

int rows_add(struct row_writer *writer, const struct row_field *fields, size_t count,
             struct error *err)
{
    if (!writer->begun)
        rows_begin(writer, fields, count, err);
    for (size_t i = 0; i < count; i++)
        writer->values[i] = fields[i].value;
    return db_bulk_row(writer->bulk, writer->values, err);
}

int rows_end(struct row_writer *writer, int result, struct error *err)
{
    if (result)
        db_bulk_abandon(writer->bulk);
    else if (writer->begun)
        result = db_bulk_end(writer->bulk, err);
    free(writer->columns);
    free(writer->values);
    return result ? -1 : 0;
}

int rows_write_one(struct db *db, const char *table, size_t keys, const struct row_field *fields,
                   size_t count, struct error *err)
{
    struct row_writer writer = { .db = db, .table = table, .keys = keys };
    return rows_end(&writer, rows_add(&writer, fields, count, err), err);
}

int rows_execute_all(struct db *db, const char *const *statements, const struct db_value *arguments,
                     size_t count, struct error *err)
{
    int result = 0;
    for (; !result && *statements; statements++)
        result = db_execute(db, *statements, arguments, count, NULL, err);
    return result;
}

/*
 * Appends the condition ` IN (...)` with the ids, and puts them into `arguments`.  The number of
 * ids must be at most ROW_IDS_AT_ONCE.
 */
static void rows_add_condition(struct text *sql, struct db_value *arguments, struct row_ids ids)
{
    for (size_t i = 0; i < ids.count; i++) {
        text_add(sql, i ? ", ?" : " IN (?");
        arguments[i] = rows_bits(ids.ids[i]);
    }
    text_add(sql, ")");
}

int rows_execute_for(struct db *db, const char *sql, const struct db_value *key, size_t key_count,
                     struct row_ids ids, struct error *err)
{
    struct db_value arguments[KEY_VALUES + ROW_IDS_AT_ONCE];
    memcpy(arguments, key, key_count * sizeof *key);
    for (size_t done = 0; done < ids.count; done += ROW_IDS_AT_ONCE) {
        size_t left = ids.count - done;
        struct row_ids part = { ids.ids + done, left < ROW_IDS_AT_ONCE ? left : ROW_IDS_AT_ONCE };
        struct text text = { 0 };
        text_add(&text, sql);
        rows_add_condition(&text, arguments + key_count, part);
        int result = db_execute(db, text.bytes, arguments, key_count + part.count, NULL, err);
        text_free(&text);
        if (result)
            return -1;
    }
    return 0;
}

struct db_rows *rows_query_for(struct db *db, const char *sql, const struct db_value *key,
                               struct row_ids ids, const char *column_types, struct error *err)
{
    struct db_value arguments[KEY_VALUES + ROW_IDS_AT_ONCE];
    struct text text = { 0 };
    memcpy(arguments, key, KEY_VALUES * sizeof *key);
    text_add(&text, sql);
    rows_add_condition(&text, arguments + KEY_VALUES, ids);
    struct db_rows *rows =
        db_query(db, text.bytes, arguments, KEY_VALUES + ids.count, column_types, err);
    text_free(&text);
    return rows;
}

static int row_ids_compare(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

size_t row_ids_sort(uint64_t *ids, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(ids, count, sizeof *ids, row_ids_compare);
    for (size_t i = 0; i < count; i++)
        if (!i || ids[i] != ids[i - 1])
            ids[kept++] = ids[i];
    return kept;
}

/* For more ids, PostgreSQL reads the whole table of values instead of looking each id up. */
#define ID_ROWS_AT_ONCE 50

/* Begins the query for the next ids, or for all rows. */
static void id_rows_begin(struct id_rows *reading, struct error *err)
{
    static const struct row_ids none;
    const struct row_ids *ids = reading->ids ? reading->ids : &none;
    size_t left = ids->count - reading->done;
    struct row_ids part = { ids->ids + reading->done,
                            left < ID_ROWS_AT_ONCE ? left : ID_ROWS_AT_ONCE };
    struct db_value arguments[1 + ID_ROWS_AT_ONCE] = { db_text(reading->cluster) };
    struct text text = { 0 };
    text_add(&text, reading->sql);
    if (reading->ids) {
        text_add(&text, " AND \"id_assoc\"");
        rows_add_condition(&text, arguments + 1, part);
    }
    text_add(&text, " ORDER BY \"id_assoc\"");
    if (reading->then_by) {
        text_add(&text, ", ");
        text_add_identifier(&text, reading->then_by);
    }
    reading->rows =
        db_query(reading->db, text.bytes, arguments, 1 + part.count, reading->column_types, err);
    reading->begun = true;
    reading->done += part.count;
    text_free(&text);
}

int id_rows_fetch(struct id_rows *reading, const struct db_value **row, struct error *err)
{
    while (!reading->failed) {
        bool any_left = reading->ids ? reading->done < reading->ids->count : !reading->begun;
        if (!reading->rows && !any_left)
            return 0;
        if (!reading->rows)
            id_rows_begin(reading, err);
        int got = db_fetch(reading->rows, row, err);
        if (got > 0)
            return got;
        reading->failed = db_finish(reading->rows);
        reading->rows = NULL;
    }
    return -1;
}

int id_rows_finish(struct id_rows *reading)
{
    if (reading->rows && db_finish(reading->rows))
        reading->failed = true;
    return reading->failed ? -1 : 0;
}

int rows_commit(struct db *db, int result, struct error *err)
{
    if (!result && !db_commit(db, err))
        return 0;
    db_rollback(db);
    return -1;
}
