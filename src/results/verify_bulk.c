/* SPDX-License-Identifier: MIT */
#include "results/verify_bulk.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/*
 * columns of fairmill_seal that depend on earlier runs; `hash` is one of them, because it covers
 * all columns
 */
static const char *const of_earlier_runs[] = { "full_as_of",   "checked_to", "jobs_from",
                                               "first_charge", "hash",       NULL };
/* columns of fairmill_run that describe the course and the host of the run */
static const char *const of_the_run[] = {
    "duration_ms",
    "kind",
    "why",
    "jobs_read",
    "source_newest",
    "source_lag",
    "drift_max",
    "drifted_associations",
    "version",
    "host",
    "os_user",
    "message",
    NULL,
};

/* clang-format off */
const struct verified_table verified_tables[] = {
    { .name = "fairmill_seal", .clear = sql_query_seal_clear, .kind = OF_CHECKPOINT, .except = of_earlier_runs },
    { .name = "fairmill_seal_usage", .keys = { "id_assoc" }, .clear = sql_query_seal_usage_clear,
      .kind = OF_CHECKPOINT },
    { .name = "fairmill_seal_open", .keys = { "job_key" }, .clear = sql_query_seal_open_clear,
      .remove = sql_query_seal_open_remove, .kind = OF_CHECKPOINT },
    { .name = "fairmill_seal_odd", .keys = { "kind", "subject", "time_end" },
      .clear = sql_query_seal_odd_clear, .kind = OF_CHECKPOINT },
    { .name = "fairmill_seal_slice", .keys = { "day" }, .clear = sql_query_seal_slice_clear,
      .remove = sql_query_seal_slice_remove, .kind = OF_CHECKPOINT },
    { .name = "fairmill_usage_day", .keys = { "day", "id_assoc" },
      .clear = sql_query_usage_day_clear, .remove = sql_query_usage_day_remove, .kind = BY_DAY },
    { .name = "fairmill_usage_open", .keys = { "day", "id_assoc" },
      .clear = sql_query_usage_open_clear, .remove = sql_query_usage_open_remove, .kind = BY_DAY },
    { .name = "fairmill_wait_final",
      .keys = { "day", "id_assoc", "partition_name", "qos", "bucket_s" },
      .clear = sql_query_wait_final_clear, .kind = BY_DAY },
    { .name = "fairmill_wait_open",
      .keys = { "day", "id_assoc", "partition_name", "qos", "bucket_s" },
      .clear = sql_query_wait_open_clear, .kind = BY_DAY },
    { .name = "fairmill_tree", .keys = { "id_assoc" }, .clear = sql_query_tree_clear,
      .in_order = true },
    { .name = "fairmill_value", .keys = { "id_assoc" }, .clear = sql_query_value_clear,
      .in_order = true },
    { .name = "fairmill_job_priority", .keys = { "job_db_inx", "partition_name", "qos" },
      .clear = sql_query_job_priority_clear, .in_order = true },
    { .name = "fairmill_job_term", .keys = { "job_db_inx", "name" },
      .clear = sql_query_job_term_clear, .in_order = true },
    { .name = "fairmill_usage_span", .in_order = true },
    { .name = "fairmill_budget", .keys = { "kind", "id", "tres" }, .clear = sql_query_budget_clear,
      .in_order = true },
    { .name = "fairmill_privilege", .keys = { "user_name", "account" },
      .clear = sql_query_privilege_clear },
    { .name = "fairmill_run", .keys = { "run_id" }, .except = of_the_run },
};
/* clang-format on */

const size_t verified_table_count = sizeof verified_tables / sizeof *verified_tables;
const struct verified_table *const verified_checkpoint_table = &verified_tables[0];

const struct verified_table *verified_table_named(const char *name)
{
    for (size_t i = 0; i < verified_table_count; i++)
        if (!strcmp(verified_tables[i].name, name))
            return &verified_tables[i];
    return NULL;
}

static size_t verify_key_count(const struct verified_table *table)
{
    size_t count = 0;
    while (table->keys[count])
        count++;
    return count;
}

struct witnessed_table *witnessed(const struct verify_session *session,
                                  const struct verified_table *table)
{
    return &session->tables[table - verified_tables];
}

void verify_add_segment(struct verify_session *session, const struct db_value *table,
                        struct hash_segment part)
{
    char *name = db_value_text(table);
    const struct verified_table *shape = verified_table_named(name);
    bool is_found = shape && shape->kind == BY_DAY && part.stored.rows &&
                    witnessed(session, shape)->last_day != part.part;
    *memory_append(&session->parts, &session->part_count) =
        (struct computed_part){ name, part, is_found };
}

static bool verify_bulk_is_one_of(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static void verify_bulk_add_value(struct text *text, const struct db_value *value)
{
    switch (value->type) {
    case DB_NULL:
        text_add(text, "NULL");
        break;
    case DB_INTEGER:
        text_format(text, "%" PRId64, value->integer);
        break;
    case DB_UNSIGNED:
        text_format(text, "%" PRIu64, value->unsigned_integer);
        break;
    case DB_REAL:
        if (isfinite(value->real))
            text_format(text, "%.17g", value->real);
        else
            text_add(text, "not a number");
        break;
    case DB_TEXT:
        text_add_bytes(text, value->text.bytes, value->text.length);
        break;
    }
}

/*
 * Appends a value: its type in one byte, then the number, or the length of the text and the text.
 */
static void encode(struct text *bytes, const struct db_value *value)
{
    char type = (char)value->type;
    uint64_t number = value->type == DB_TEXT ? value->text.length : value->unsigned_integer;
    if (value->type == DB_REAL)
        memcpy(&number, &value->real, sizeof number);
    text_add_bytes(bytes, &type, 1);
    if (value->type != DB_NULL)
        text_add_bytes(bytes, (const char *)&number, sizeof number);
    if (value->type == DB_TEXT)
        text_add_bytes(bytes, value->text.bytes, value->text.length);
}

static const char *verify_bulk_decode(const char *bytes, struct db_value *value)
{
    uint64_t number = 0;
    *value = (struct db_value){ .type = (enum db_type) * bytes++ };
    if (value->type == DB_NULL)
        return bytes;
    memcpy(&number, bytes, sizeof number);
    bytes += sizeof number;
    if (value->type == DB_REAL)
        memcpy(&value->real, &number, sizeof number);
    else if (value->type != DB_TEXT)
        value->unsigned_integer = number;
    else
        *value = db_bytes(bytes, number);
    return value->type == DB_TEXT ? bytes + number : bytes;
}

static bool same_value(const struct db_value *one, const struct db_value *other)
{
    if (one->type != other->type)
        return false;
    if (one->type == DB_REAL)
        return one->real == other->real;
    if (one->type == DB_TEXT)
        return one->text.length == other->text.length &&
               !memcmp(one->text.bytes, other->text.bytes, one->text.length);
    return one->type == DB_NULL || one->unsigned_integer == other->unsigned_integer;
}

/* Sets `key` to the key of a row: its values after the cluster, each followed by a NUL. */
static void add_key(struct text *key, const struct db_value *values, size_t count)
{
    key->length = 0;
    text_add(key, "");
    for (size_t i = 0; i < count; i++) {
        verify_bulk_add_value(key, &values[i]);
        text_add_bytes(key, "", 1);
    }
}

/* The rows that a run writes into one table. */
struct verify_bulk {
    struct db_bulk base;
    struct verify_session *session;
    const struct verified_table *table; /* NULL if the rows are not compared */
    struct text bytes;
    size_t *places; /* offset of each row in `bytes` */
    struct names *keys;
    size_t count;
    bool *met;
    int64_t day; /* the day of all rows, if the table is compared by day */
};

/* Appends the name of a row, such as `id_assoc 5`, made of its key values. */
static void name_row(const struct verified_table *table, const struct db_value *values,
                     struct text *name)
{
    text_add(name, "");
    for (size_t i = 0; table->keys[i]; i++) {
        text_format(name, "%s%s ", i ? ", " : "", table->keys[i]);
        if (table->kind == BY_DAY && !i)
            time_add_day(name, values[i].integer);
        else
            verify_bulk_add_value(name, &values[i]);
    }
}

static int64_t verify_bulk_part_of(const struct verified_table *table,
                                   const struct db_value *values)
{
    return table->kind == BY_DAY && values[0].type == DB_INTEGER ? values[0].integer : 0;
}

void verify_differ_whole(struct verify_session *session, const struct verified_table *table,
                         const struct db_value *keys, bool stored)
{
    struct text name = { 0 };
    char row[] = "a row";
    name_row(table, keys, &name);
    row_differences_add(&session->differences, &(struct row_difference){
                                                   .table = table->name,
                                                   .key = name.bytes,
                                                   .stored = stored ? row : NULL,
                                                   .computed = stored ? NULL : row,
                                                   .part = verify_bulk_part_of(table, keys),
                                               });
    text_free(&name);
}

static void compare_value(struct verify_bulk *bulk, const struct db_value *row, size_t column,
                          const struct db_value *computed)
{
    struct verify_session *session = bulk->session;
    const char *name = bulk->base.columns[column].name;
    if (same_value(&row[column], computed) ||
        (bulk->table->except && verify_bulk_is_one_of(bulk->table->except, name)))
        return;
    session->sums_differ |= !strcmp(name, "sums_hash");
    session->open_differ |= !strcmp(name, "open_hash");
    struct text key = { 0 }, stored = { 0 }, wanted = { 0 }, column_name = { 0 };
    name_row(bulk->table, row + 1, &key);
    verify_bulk_add_value(&stored, &row[column]);
    verify_bulk_add_value(&wanted, computed);
    text_add(&column_name, name);
    row_differences_add(&session->differences,
                        &(struct row_difference){
                            .table = bulk->table->name,
                            .key = key.bytes,
                            .column = column_name.bytes,
                            .stored = stored.bytes ? stored.bytes : (char[]){ "" },
                            .computed = wanted.bytes ? wanted.bytes : (char[]){ "" },
                            .part = verify_bulk_part_of(bulk->table, row + 1),
                        });
    text_free(&key);
    text_free(&stored);
    text_free(&wanted);
    text_free(&column_name);
}

static void compare_row(struct verify_bulk *bulk, const struct db_value *row, bool whole,
                        struct text *key)
{
    add_key(key, row + 1, verify_key_count(bulk->table));
    uint32_t place = names_find(bulk->keys, key->bytes, key->length);
    if (place == INDEX_NONE) {
        if (whole)
            verify_differ_whole(bulk->session, bulk->table, row + 1, true);
        return;
    }
    const char *bytes = bulk->bytes.bytes + bulk->places[place];
    bulk->met[place] = true;
    for (size_t i = 0; i < bulk->base.column_count; i++) {
        struct db_value computed;
        bytes = verify_bulk_decode(bytes, &computed);
        compare_value(bulk, row, i, &computed);
    }
}

static void verify_bulk_report_missing(struct verify_bulk *bulk)
{
    for (size_t i = 0; i < bulk->count; i++) {
        struct db_value keys[VERIFY_KEYS_AT_MOST + 1];
        const char *bytes = bulk->bytes.bytes + bulk->places[i];
        if (bulk->met[i])
            continue;
        for (size_t k = 0; k <= verify_key_count(bulk->table); k++)
            bytes = verify_bulk_decode(bytes, &keys[k]);
        verify_differ_whole(bulk->session, bulk->table, keys + 1, false);
    }
}

/* Queries the stored rows that the rows of the bulk would replace. */
static struct db_rows *ask_stored(const struct verify_bulk *bulk, struct text *types,
                                  struct error *err)
{
    const struct verify_session *session = bulk->session;
    const struct db_value arguments[] = { db_text(session->cluster), db_integer(bulk->day) };
    struct text sql = { 0 };
    for (size_t i = 0; i < bulk->base.column_count; i++) {
        char type = bulk->base.columns[i].type;
        text_add(&sql, i ? ", " : "SELECT ");
        text_add_identifier(&sql, bulk->base.columns[i].name);
        text_add_bytes(types, type == 'r' ? "n" : &type, 1);
    }
    text_add(&sql, " FROM ");
    text_add_identifier(&sql, bulk->table->name);
    text_add(&sql, " WHERE \"cluster\" = ?");
    if (bulk->table->kind == BY_DAY)
        text_add(&sql, " AND \"day\" = ?");
    struct db_rows *rows = db_query(session->stored, sql.bytes, arguments,
                                    bulk->table->kind == BY_DAY ? 2 : 1, types->bytes, err);
    text_free(&sql);
    return rows;
}

static int verify_bulk_compare(struct verify_bulk *bulk, struct error *err)
{
    struct verify_session *session = bulk->session;
    struct witnessed_table *table = witnessed(session, bulk->table);
    /* A table without key columns has only one row. */
    bool whole = table->is_cleared || !bulk->table->keys[0];
    const struct db_value *row;
    struct text types = { 0 }, key = { 0 };
    struct db_rows *rows = ask_stored(bulk, &types, err);
    bulk->met = memory_zeroed(bulk->count, sizeof *bulk->met);
    table->is_cleared = false;
    table->last_day = bulk->day;
    while (db_fetch(rows, &row, err) > 0) {
        row_hash_add_values(&table->found, row + 1, bulk->base.column_count - 1);
        compare_row(bulk, row, whole, &key);
    }
    int result = db_finish(rows);
    text_free(&types);
    text_free(&key);
    if (!result) {
        verify_bulk_report_missing(bulk);
    } else if (err->class == ERROR_DATA) { /* a value has the wrong type */
        row_differences_add(
            &session->differences,
            &(struct row_difference){ .table = bulk->table->name,
                                      .key = (char[]){ "" },
                                      .stored = err->message,
                                      .part = bulk->table->kind == BY_DAY ? bulk->day : 0 });
        result = 0;
    }
    return result;
}

int verify_compare_with_none(struct verify_session *session, const struct verified_table *shape,
                             struct error *err)
{
    const struct witnessed_table *table = witnessed(session, shape);
    if (!table->is_cleared)
        return 0;
    struct db_column columns[VERIFY_KEYS_AT_MOST + 1] = { { "cluster", 't' } };
    for (size_t i = 0; shape->keys[i]; i++)
        columns[1 + i] =
            (struct db_column){ shape->keys[i], strcmp(shape->keys[i], "day") ? 't' : 'i' };
    struct verify_bulk bulk = {
        .base = { .columns = columns, .column_count = 1 + verify_key_count(shape) },
        .session = session,
        .table = shape,
        .keys = names_create(),
        .day = table->cleared_day,
    };
    int result = verify_bulk_compare(&bulk, err);
    names_destroy(bulk.keys);
    free(bulk.met);
    return result;
}

struct db_bulk *verify_bulk_begin(const struct db_bulk *target, struct error *err)
{
    (void)err;
    struct verify_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    *bulk = (struct verify_bulk){
        .base = *target,
        .session = (struct verify_session *)target->db,
        .table = verified_table_named(target->table),
        .keys = names_create(),
    };
    return &bulk->base;
}

/* The columns of fairmill_kept, in the order of stored_write(). */
enum { STORED_CLUSTER, STORED_TABLE, STORED_PART, STORED_ROWS, STORED_HASH };

int verify_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct verify_bulk *bulk = (struct verify_bulk *)base;
    (void)err;
    if (!strcmp(base->table, STORED_TABLE_NAME))
        verify_add_segment(bulk->session, &row[STORED_TABLE],
                           (struct hash_segment){ row[STORED_PART].integer,
                                                  { rows_bits_of(&row[STORED_ROWS]),
                                                    rows_bits_of(&row[STORED_HASH]) } });
    if (!bulk->table)
        return 0;
    struct text key = { 0 };
    *memory_append(&bulk->places, &bulk->count) = bulk->bytes.length;
    for (size_t i = 0; i < base->column_count; i++)
        encode(&bulk->bytes, &row[i]);
    add_key(&key, row + 1, verify_key_count(bulk->table));
    names_add(bulk->keys, key.bytes, key.length);
    text_free(&key);
    if (bulk->table->kind == BY_DAY)
        bulk->day = row[1].integer;
    return 0;
}

int verify_bulk_send(struct db_bulk *base, struct error *err)
{
    struct verify_bulk *bulk = (struct verify_bulk *)base;
    return bulk->table && bulk->count ? verify_bulk_compare(bulk, err) : 0;
}

void verify_bulk_free(struct db_bulk *base)
{
    struct verify_bulk *bulk = (struct verify_bulk *)base;
    names_destroy(bulk->keys);
    text_free(&bulk->bytes);
    free(bulk->places);
    free(bulk->met);
    free(bulk);
}
