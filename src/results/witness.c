/* SPDX-License-Identifier: MIT */
#include "results/witness.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/kept.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/instant.h"
#include "util/memory.h"
#include "util/text.h"

/* ---- The tables that are compared ---- */

#define KEYS_AT_MOST 3

struct shape {
    const char *name;
    const char *keys[KEYS_AT_MOST + 1]; /* besides the cluster, which comes first; ended by NULL */
    const char *clear, *remove;         /* what removes all (of a day) or some */
    enum { OF_CLUSTER, BY_DAY, OF_SEAL } kind;
    bool in_order; /* its hash is of all columns in their order */
};

/* clang-format off */
static const struct shape shapes[] = {
    { .name = "fairmill_seal", .clear = sql_query_seal_clear, .kind = OF_SEAL },
    { .name = "fairmill_seal_usage", .keys = { "id_assoc" }, .clear = sql_query_seal_usage_clear,
      .kind = OF_SEAL },
    { .name = "fairmill_seal_open", .keys = { "job_key" }, .clear = sql_query_seal_open_clear,
      .remove = sql_query_seal_open_remove, .kind = OF_SEAL },
    { .name = "fairmill_seal_odd", .keys = { "kind", "subject", "time_end" },
      .clear = sql_query_seal_odd_clear, .kind = OF_SEAL },
    { .name = "fairmill_seal_slice", .keys = { "day" }, .clear = sql_query_seal_slice_clear,
      .remove = sql_query_seal_slice_remove, .kind = OF_SEAL },
    { .name = "fairmill_usage_day", .keys = { "day", "id_assoc" },
      .clear = sql_query_usage_day_clear, .remove = sql_query_usage_day_remove, .kind = BY_DAY },
    { .name = "fairmill_usage_open", .keys = { "day", "id_assoc" },
      .clear = sql_query_usage_open_clear, .remove = sql_query_usage_open_remove, .kind = BY_DAY },
    { .name = "fairmill_tree", .keys = { "id_assoc" }, .clear = sql_query_tree_clear,
      .in_order = true },
    { .name = "fairmill_value", .keys = { "id_assoc" }, .clear = sql_query_value_clear,
      .in_order = true },
    { .name = "fairmill_job_priority", .keys = { "job_db_inx", "partition_name", "qos" },
      .clear = sql_query_job_priority_clear, .in_order = true },
    { .name = "fairmill_job_term", .keys = { "job_db_inx", "name" },
      .clear = sql_query_job_term_clear, .in_order = true },
    { .name = "fairmill_usage_span", .in_order = true },
};
/* clang-format on */
#define SHAPES COUNT(shapes)
static const struct shape *const seal_shape = &shapes[0];
static const char kept_table_name[] = "fairmill_kept";

/* Columns of the seal that hang on the runs before; its hash covers them all. */
static const char *const of_earlier_runs[] = { "full_as_of",   "checked_to", "jobs_from",
                                               "first_charge", "hash",       NULL };

static bool is_one_of(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static size_t key_count(const struct shape *shape)
{
    size_t count = 0;
    while (shape->keys[count])
        count++;
    return count;
}

static const struct shape *shape_named(const char *name)
{
    for (size_t i = 0; i < SHAPES; i++)
        if (!strcmp(shapes[i].name, name))
            return &shapes[i];
    return NULL;
}

/* ---- What was found ---- */

/* The hash that a run would store of a part of a table. */
struct computed_part {
    char *table;
    struct kept_part part;
    bool is_found; /* it is of rows that cannot be made anew, as they are stored */
};

struct cleared {
    bool is; /* rows were removed, and none written since */
    int64_t day;
};

struct witness {
    struct db base;
    struct db *stored;
    const char *cluster;
    struct cleared cleared[SHAPES];
    int64_t last_day[SHAPES];       /* whose rows were compared */
    struct kept_rows found[SHAPES]; /* what is stored, where that is read whole and in order */
    struct computed_part *parts;
    size_t part_count;
    struct row_differences differences;
    bool sums_differ, open_differ; /* by the seal's own hashes */
};

static struct table_differences *differences_of(struct witness *witness, const char *table)
{
    struct row_differences *all = &witness->differences;
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->tables[i].table, table))
            return &all->tables[i];
    all->tables = memory_grown(all->tables, all->count, sizeof *all->tables);
    all->tables[all->count] = (struct table_differences){ .table = table };
    return &all->tables[all->count++];
}

/* Texts are copied, NULL stays NULL. */
static void differ(struct witness *witness, const struct row_difference *difference)
{
    struct table_differences *of = differences_of(witness, difference->table);
    if (of->count++ >= DIFFERENCES_AT_MOST)
        return;
    struct row_difference *own = &of->list[of->listed++];
    *own = *difference;
    own->key = memory_text(difference->key);
    own->column = difference->column ? memory_text(difference->column) : NULL;
    own->stored = difference->stored ? memory_text(difference->stored) : NULL;
    own->computed = difference->computed ? memory_text(difference->computed) : NULL;
}

void row_differences_free(struct row_differences *differences)
{
    for (size_t i = 0; i < differences->count; i++)
        for (size_t k = 0; k < differences->tables[i].listed; k++) {
            struct row_difference *each = &differences->tables[i].list[k];
            free(each->key);
            free(each->column);
            free(each->stored);
            free(each->computed);
        }
    free(differences->tables);
    *differences = (struct row_differences){ 0 };
}

/* ---- Rows in bytes ---- */

static void add_value(struct text *text, const struct db_value *value)
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
            text_add(text, "no number");
        break;
    case DB_TEXT:
        text_add_bytes(text, value->text.bytes, value->text.length);
        break;
    }
}

/* The type in a byte, and the number, or the length of the text that follows. */
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

static const char *decode(const char *bytes, struct db_value *value)
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
    switch (one->type) {
    case DB_INTEGER:
        return one->integer == other->integer;
    case DB_UNSIGNED:
        return one->unsigned_integer == other->unsigned_integer;
    case DB_REAL:
        return one->real == other->real;
    case DB_TEXT:
        return one->text.length == other->text.length &&
               !memcmp(one->text.bytes, other->text.bytes, one->text.length);
    case DB_NULL:
        break;
    }
    return true;
}

/* What tells a row from others: its values behind the cluster, each with a NUL behind it. */
static void add_key(struct text *key, const struct db_value *values, size_t count)
{
    key->length = 0;
    text_add(key, "");
    for (size_t i = 0; i < count; i++) {
        add_value(key, &values[i]);
        text_add_bytes(key, "", 1);
    }
}

/* ---- Comparing ---- */

/* Rows that a run writes into one table. */
struct witness_bulk {
    struct db_bulk base;
    struct witness *witness;
    const struct shape *shape; /* NULL: they are not compared */
    struct text bytes;
    size_t *places; /* of each row in them */
    struct names *keys;
    size_t count;
    bool *met;
    int64_t day; /* of all rows, where they come by day */
};

/* `id_assoc 5`, of values in front. */
static void name_row(const struct shape *shape, const struct db_value *values, struct text *name)
{
    text_add(name, "");
    for (size_t i = 0; shape->keys[i]; i++) {
        text_format(name, "%s%s ", i ? ", " : "", shape->keys[i]);
        if (shape->kind == BY_DAY && !i)
            instant_add_day(name, values[i].integer);
        else
            add_value(name, &values[i]);
    }
}

static int64_t part_of(const struct shape *shape, const struct db_value *values)
{
    return shape->kind == BY_DAY && values[0].type == DB_INTEGER ? values[0].integer : 0;
}

/* A row that is only stored, or only computed. */
static void differ_whole(struct witness *witness, const struct shape *shape,
                         const struct db_value *keys, bool stored)
{
    struct text name = { 0 };
    char row[] = "a row";
    name_row(shape, keys, &name);
    differ(witness, &(struct row_difference){
                        .table = shape->name,
                        .key = name.bytes,
                        .stored = stored ? row : NULL,
                        .computed = stored ? NULL : row,
                        .part = part_of(shape, keys),
                    });
    text_free(&name);
}

static void compare_value(struct witness_bulk *bulk, const struct db_value *row, size_t column,
                          const struct db_value *computed)
{
    struct witness *witness = bulk->witness;
    const char *name = bulk->base.columns[column].name;
    if (same_value(&row[column], computed) ||
        (bulk->shape == seal_shape && is_one_of(of_earlier_runs, name)))
        return;
    witness->sums_differ |= !strcmp(name, "sums_hash");
    witness->open_differ |= !strcmp(name, "open_hash");
    struct text key = { 0 }, stored = { 0 }, wanted = { 0 }, column_name = { 0 };
    name_row(bulk->shape, row + 1, &key);
    add_value(&stored, &row[column]);
    add_value(&wanted, computed);
    text_add(&column_name, name);
    differ(witness, &(struct row_difference){
                        .table = bulk->shape->name,
                        .key = key.bytes,
                        .column = column_name.bytes,
                        .stored = stored.bytes ? stored.bytes : (char[]){ "" },
                        .computed = wanted.bytes ? wanted.bytes : (char[]){ "" },
                        .part = part_of(bulk->shape, row + 1),
                    });
    text_free(&key);
    text_free(&stored);
    text_free(&wanted);
    text_free(&column_name);
}

static void compare_row(struct witness_bulk *bulk, const struct db_value *row, bool whole,
                        struct text *key)
{
    add_key(key, row + 1, key_count(bulk->shape));
    uint32_t place = names_find(bulk->keys, key->bytes, key->length);
    if (place == INDEX_NONE) {
        if (whole)
            differ_whole(bulk->witness, bulk->shape, row + 1, true);
        return;
    }
    const char *bytes = bulk->bytes.bytes + bulk->places[place];
    bulk->met[place] = true;
    for (size_t i = 0; i < bulk->base.column_count; i++) {
        struct db_value computed;
        bytes = decode(bytes, &computed);
        compare_value(bulk, row, i, &computed);
    }
}

static void report_missing(struct witness_bulk *bulk)
{
    for (size_t i = 0; i < bulk->count; i++) {
        struct db_value keys[KEYS_AT_MOST + 1];
        const char *bytes = bulk->bytes.bytes + bulk->places[i];
        if (bulk->met[i])
            continue;
        for (size_t k = 0; k <= key_count(bulk->shape); k++)
            bytes = decode(bytes, &keys[k]);
        differ_whole(bulk->witness, bulk->shape, keys + 1, false);
    }
}

/* The rows that are stored where those of the bulk would be. */
static struct db_rows *ask_stored(const struct witness_bulk *bulk, struct text *types,
                                  struct error *err)
{
    const struct witness *witness = bulk->witness;
    const struct db_value arguments[] = { db_text(witness->cluster), db_integer(bulk->day) };
    struct text sql = { 0 };
    for (size_t i = 0; i < bulk->base.column_count; i++) {
        char type = bulk->base.columns[i].type;
        text_add(&sql, i ? ", " : "SELECT ");
        text_add_identifier(&sql, bulk->base.columns[i].name);
        text_add_bytes(types, type == 'r' ? "n" : &type, 1);
    }
    text_add(&sql, " FROM ");
    text_add_identifier(&sql, bulk->shape->name);
    text_add(&sql, " WHERE \"cluster\" = ?");
    if (bulk->shape->kind == BY_DAY)
        text_add(&sql, " AND \"day\" = ?");
    struct db_rows *rows = db_query(witness->stored, sql.bytes, arguments,
                                    bulk->shape->kind == BY_DAY ? 2 : 1, types->bytes, err);
    text_free(&sql);
    return rows;
}

static int compare(struct witness_bulk *bulk, struct error *err)
{
    struct witness *witness = bulk->witness;
    struct cleared *cleared = &witness->cleared[bulk->shape - shapes];
    /* A table of one row has no other. */
    bool whole = cleared->is || !bulk->shape->keys[0];
    const struct db_value *row;
    struct text types = { 0 }, key = { 0 };
    struct db_rows *rows = ask_stored(bulk, &types, err);
    bulk->met = memory_zeroed(bulk->count, sizeof *bulk->met);
    cleared->is = false;
    witness->last_day[bulk->shape - shapes] = bulk->day;
    while (db_fetch(rows, &row, err) > 0) {
        kept_add_values(&witness->found[bulk->shape - shapes], row + 1,
                        bulk->base.column_count - 1);
        compare_row(bulk, row, whole, &key);
    }
    int result = db_finish(rows);
    text_free(&types);
    text_free(&key);
    if (!result) {
        report_missing(bulk);
    } else if (err->class == ERROR_DATA) { /* it is not even of its column's type */
        differ(witness,
               &(struct row_difference){ .table = bulk->shape->name,
                                         .key = (char[]){ "" },
                                         .stored = err->message,
                                         .part = bulk->shape->kind == BY_DAY ? bulk->day : 0 });
        result = 0;
    }
    return result;
}

/* Rows were removed, and none were written in their place. */
static int compare_with_none(struct witness *witness, size_t shape, struct error *err)
{
    if (!witness->cleared[shape].is)
        return 0;
    const struct shape *of = &shapes[shape];
    struct db_column columns[KEYS_AT_MOST + 1] = { { "cluster", 't' } };
    for (size_t i = 0; of->keys[i]; i++)
        columns[1 + i] = (struct db_column){ of->keys[i], strcmp(of->keys[i], "day") ? 't' : 'i' };
    struct witness_bulk bulk = {
        .base = { .columns = columns, .column_count = 1 + key_count(of) },
        .witness = witness,
        .shape = of,
        .keys = names_create(),
        .day = witness->cleared[shape].day,
    };
    int result = compare(&bulk, err);
    names_destroy(bulk.keys);
    free(bulk.met);
    return result;
}

/* ---- The driver ---- */

static struct witness *witness_of(struct db *db)
{
    return (struct witness *)db;
}

struct witness_rows {
    struct db_rows base;
    struct db_rows *stored;
};

static struct db_rows *query(struct db *db, const struct db_question *question, struct error *err)
{
    struct db_rows *stored = (question->has_many_rows ? db_stream : db_query)(
        witness_of(db)->stored, question->sql, question->arguments, question->argument_count,
        question->column_types, err);
    if (!stored)
        return NULL;
    struct witness_rows *rows = memory_zeroed(1, sizeof *rows);
    *rows = (struct witness_rows){ { .db = db }, stored };
    return &rows->base;
}

static int fetch(struct db_rows *rows, const struct db_value **row, struct error *err)
{
    return db_fetch(((struct witness_rows *)rows)->stored, row, err);
}

static void finish(struct db_rows *rows)
{
    db_finish(((struct witness_rows *)rows)->stored);
    free(rows);
}

static int do_nothing(struct db *db, struct error *err)
{
    (void)db;
    (void)err;
    return 0;
}

static void forget(struct db *db)
{
    (void)db;
}

static int keep_lock_wait(struct db *db, unsigned seconds, struct error *err)
{
    (void)seconds;
    return do_nothing(db, err);
}

static void add_part(struct witness *witness, const struct db_value *table, struct kept_part part)
{
    char *name = db_value_text(table);
    const struct shape *shape = shape_named(name);
    bool is_found = shape && shape->kind == BY_DAY && part.kept.rows &&
                    witness->last_day[shape - shapes] != part.part;
    witness->parts = memory_grown(witness->parts, witness->part_count, sizeof *witness->parts);
    witness->parts[witness->part_count++] = (struct computed_part){ name, part, is_found };
}

static int clear(struct witness *witness, size_t shape, const struct db_value *arguments,
                 struct error *err)
{
    struct cleared cleared = { true, shapes[shape].kind == BY_DAY ? arguments[1].integer : 0 };
    int result =
        witness->cleared[shape].day == cleared.day ? 0 : compare_with_none(witness, shape, err);
    witness->cleared[shape] = cleared;
    return result;
}

/* The ids stand behind the cluster, and the day where the rows come by day. */
static void remove_some(struct witness *witness, size_t shape, const struct db_value *arguments,
                        size_t count)
{
    size_t before = shapes[shape].kind == BY_DAY ? 2 : 1;
    for (size_t i = before; i < count; i++) {
        const struct db_value keys[] = { before == 2 ? arguments[1] : arguments[i], arguments[i] };
        differ_whole(witness, &shapes[shape], keys, true);
    }
}

static int execute(struct db *db, const char *sql, const struct db_value *arguments, size_t count,
                   int64_t *changed, struct error *err)
{
    struct witness *witness = witness_of(db);
    if (changed)
        *changed = 1;
    if (!strcmp(sql, sql_query_kept_remove))
        add_part(witness, &arguments[1], (struct kept_part){ .part = arguments[2].integer });
    for (size_t i = 0; i < SHAPES; i++) {
        const char *remove = shapes[i].remove;
        if (shapes[i].clear && !strcmp(sql, shapes[i].clear))
            return clear(witness, i, arguments, err);
        if (remove && !strncmp(sql, remove, strlen(remove)))
            remove_some(witness, i, arguments, count);
    }
    return 0;
}

static struct db_bulk *bulk_begin(const struct db_bulk *target, struct error *err)
{
    (void)err;
    struct witness_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    *bulk = (struct witness_bulk){
        .base = *target,
        .witness = witness_of(target->db),
        .shape = shape_named(target->table),
        .keys = names_create(),
    };
    return &bulk->base;
}

/* The columns of a row of fairmill_kept, as kept_write() has them. */
enum { KEPT_CLUSTER, KEPT_TABLE, KEPT_PART, KEPT_ROWS, KEPT_HASH };

static int bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct witness_bulk *bulk = (struct witness_bulk *)base;
    (void)err;
    if (!strcmp(base->table, kept_table_name))
        add_part(
            bulk->witness, &row[KEPT_TABLE],
            (struct kept_part){ row[KEPT_PART].integer,
                                { rows_bits_of(&row[KEPT_ROWS]), rows_bits_of(&row[KEPT_HASH]) } });
    if (!bulk->shape)
        return 0;
    struct text key = { 0 };
    bulk->places = memory_grown(bulk->places, bulk->count, sizeof *bulk->places);
    bulk->places[bulk->count++] = bulk->bytes.length;
    for (size_t i = 0; i < base->column_count; i++)
        encode(&bulk->bytes, &row[i]);
    add_key(&key, row + 1, key_count(bulk->shape));
    names_add(bulk->keys, key.bytes, key.length);
    text_free(&key);
    if (bulk->shape->kind == BY_DAY)
        bulk->day = row[1].integer;
    return 0;
}

static int bulk_send(struct db_bulk *base, struct error *err)
{
    struct witness_bulk *bulk = (struct witness_bulk *)base;
    return bulk->shape && bulk->count ? compare(bulk, err) : 0;
}

static void bulk_free(struct db_bulk *base)
{
    struct witness_bulk *bulk = (struct witness_bulk *)base;
    names_destroy(bulk->keys);
    text_free(&bulk->bytes);
    free(bulk->places);
    free(bulk->met);
    free(bulk);
}

static const struct db_driver witness_driver = {
    .name = "witness",
    .scan_hint = "",
    .begin = do_nothing,
    .commit = do_nothing,
    .rollback = forget,
    .query = query,
    .fetch = fetch,
    .finish = finish,
    .execute = execute,
    .set_lock_wait = keep_lock_wait,
    .bulk_begin = bulk_begin,
    .bulk_row = bulk_row,
    .bulk_send = bulk_send,
    .bulk_free = bulk_free,
};

struct db *witness_open(struct db *stored, const char *cluster)
{
    struct witness *witness = memory_zeroed(1, sizeof *witness);
    witness->base = *stored;
    witness->base.driver = &witness_driver;
    witness->base.rows = NULL;
    witness->base.writing = false;
    witness->stored = stored;
    witness->cluster = cluster;
    return &witness->base;
}

void witness_close(struct db *db)
{
    struct witness *witness = witness_of(db);
    if (!witness)
        return;
    for (size_t i = 0; i < witness->part_count; i++)
        free(witness->parts[i].table);
    free(witness->parts);
    row_differences_free(&witness->differences);
    free(witness);
}

/* ---- Why ---- */

static bool has_differences(const struct witness *witness, const char *table, int64_t part)
{
    for (size_t i = 0; i < witness->differences.count; i++) {
        const struct table_differences *of = &witness->differences.tables[i];
        if (strcmp(of->table, table) != 0)
            continue;
        for (size_t k = 0; k < of->listed; k++)
            if (of->list[k].part == part)
                return true;
        return of->count > of->listed; /* it may be among the others */
    }
    return false;
}

static void add_hash(struct text *text, const struct kept_rows *kept)
{
    text_format(text, "%" PRIu64 " rows, %016" PRIx64, kept->rows, kept->hash);
}

/* The hash does not fit rows that are as they should be, or rows that cannot be made anew. */
static void report_hash(struct witness *witness, const struct shape *shape,
                        const struct computed_part *computed, const struct kept_rows *known)
{
    struct text key = { 0 }, stored = { 0 }, wanted = { 0 };
    add_hash(computed->is_found ? &wanted : &stored, known);
    add_hash(computed->is_found ? &stored : &wanted, &computed->part.kept);
    text_add(&key, "");
    if (computed->is_found) {
        text_add(&key, "day ");
        instant_add_day(&key, computed->part.part);
    } else {
        text_format(&key, "table_name %s, part %" PRId64, computed->table, computed->part.part);
    }
    differ(witness, &(struct row_difference){ computed->is_found ? shape->name : kept_table_name,
                                              key.bytes, NULL, stored.bytes, wanted.bytes,
                                              computed->part.part, CAUSE_ROWS });
    text_free(&key);
    text_free(&stored);
    text_free(&wanted);
}

/* Give the differences of a part their cause. */
static void set_cause(struct witness *witness, const char *table, int64_t part,
                      enum difference_cause cause)
{
    for (size_t i = 0; i < witness->differences.count; i++) {
        struct table_differences *of = &witness->differences.tables[i];
        for (size_t k = 0; !strcmp(of->table, table) && k < of->listed; k++)
            if (of->list[k].part == part)
                of->list[k].cause = cause;
    }
}

/* By the hashes of what was stored, is stored, and was computed. */
static void explain_part(struct witness *witness, const struct shape *shape,
                         const struct computed_part *computed, const struct kept_rows *known)
{
    const struct kept_rows *found = &witness->found[shape - shapes];
    bool as_computed = kept_same(known, &computed->part.kept);
    bool changed = shape->in_order ? !kept_same(known, found) : as_computed;
    set_cause(witness, shape->name, computed->part.part, changed ? CAUSE_ROWS : CAUSE_SOURCE);
    if (!as_computed && !has_differences(witness, shape->name, computed->part.part))
        report_hash(witness, shape, computed, known);
}

static void explain_table(struct witness *witness, const struct shape *shape,
                          const struct kept_parts *known)
{
    /* Of other parts a run would not write the hash again: it is as computed. */
    for (size_t i = 0; i < known->count; i++)
        set_cause(witness, shape->name, known->parts[i].part, CAUSE_ROWS);
    for (size_t i = 0; i < witness->part_count; i++) {
        struct kept_rows there = kept_of(known, witness->parts[i].part.part);
        if (!strcmp(witness->parts[i].table, shape->name))
            explain_part(witness, shape, &witness->parts[i], &there);
    }
}

/* Where the cluster has any hash, the tables that have none have lost it. */
static int explain_tables(struct witness *witness, struct error *err)
{
    struct kept_parts known[SHAPES] = { { 0 } };
    bool any = false;
    int result = 0;
    for (size_t i = 0; !result && i < SHAPES; i++) {
        result = kept_read(witness->stored, witness->cluster, shapes[i].name, &known[i], err);
        any |= known[i].count != 0;
    }
    for (size_t i = 0; i < SHAPES; i++) {
        if (!result && any)
            explain_table(witness, &shapes[i], &known[i]);
        kept_parts_free(&known[i]);
    }
    return result;
}

/* The seal's own row has the hashes of its sums and keys. */
static void explain_seal(struct witness *witness, bool damaged)
{
    bool any = false;
    for (size_t i = 0; i < witness->differences.count; i++) {
        struct table_differences *of = &witness->differences.tables[i];
        const struct shape *shape = shape_named(of->table);
        bool of_sums = !strcmp(of->table, "fairmill_seal_usage"),
             of_open = !strcmp(of->table, "fairmill_seal_open");
        any |= shape && shape->kind == OF_SEAL;
        damaged |= shape == seal_shape && !of->list[0].stored;
        for (size_t k = 0; shape && shape->kind == OF_SEAL && k < of->listed; k++)
            if (damaged || (of_sums && !witness->sums_differ) || (of_open && !witness->open_differ))
                of->list[k].cause = CAUSE_ROWS;
            else if (of_sums || of_open || shape == seal_shape)
                of->list[k].cause = CAUSE_SOURCE;
    }
    if (damaged && !any)
        differ(witness, &(struct row_difference){ .table = seal_shape->name,
                                                  .key = (char[]){ "" },
                                                  .stored = (char[]){ "not what was stored" },
                                                  .cause = CAUSE_ROWS });
}

/* What cannot be made anew has its hash only. */
static void report_record(void *context, const struct kept_table *table, int64_t part,
                          const struct kept_rows *known, const struct kept_rows *found)
{
    struct text key = { 0 }, stored = { 0 }, wanted = { 0 };
    text_add(&key, "");
    if (table != &kept_share_state)
        instant_add(&key, part);
    add_hash(&stored, found);
    add_hash(&wanted, known);
    differ(context, &(struct row_difference){ table->name, key.bytes, NULL, stored.bytes,
                                              wanted.bytes, part, CAUSE_ROWS });
    text_free(&key);
    text_free(&stored);
    text_free(&wanted);
}

int witness_end(struct db *db, bool seal_damaged, struct row_differences *differences,
                struct error *err)
{
    struct witness *witness = witness_of(db);
    for (size_t i = 0; i < SHAPES; i++)
        if (compare_with_none(witness, i, err))
            return -1;
    if (explain_tables(witness, err))
        return -1;
    explain_seal(witness, seal_damaged);
    for (size_t i = 0; kept_records[i]; i++)
        if (kept_compare(witness->stored, witness->cluster, kept_records[i], report_record, witness,
                         err))
            return -1;
    /* It hangs on when the source touched associations last, so that it is not as then any more. */
    if (kept_compare(witness->stored, witness->cluster, &kept_share_state, report_record, witness,
                     err))
        return -1;
    *differences = witness->differences;
    witness->differences = (struct row_differences){ 0 };
    return 0;
}
