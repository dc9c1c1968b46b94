/* SPDX-License-Identifier: MIT */
#include <endian.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "db/pgsql/pgsql_session.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Rows are collected in batches.
 *
 * Without a key, a batch is sent with COPY, the fastest method.  COPY cannot replace rows.  With a
 * key, a batch is sent as one array for each column, first to an UPDATE.  If the UPDATE did not
 * find all rows, an INSERT adds the missing rows.  The INSERT updates rows that another session has
 * added in the meantime.  An INSERT without the UPDATE would first lock each existing row, and
 * would write each lock to the WAL.
 *
 * In COPY and in arrays, a value is its length and its bytes, in network byte order.
 *
 * The driver sends a batch, and waits for its result only when the next batch is full, so that the
 * server works in the meantime.  A COPY is sent together with its end, and is short enough to be
 * sent at once.  Otherwise the server would wait for the remaining data, and it checks no time
 * limit during this wait.
 */

#define BATCH_BYTES ((size_t)1024 * 1024)
#define COPY_BYTES ((size_t)96 * 1024)
#define ARRAY_ROWS 1000

/* A column's type in a bulk write.  COPY requires exactly the type of the table's column. */
struct wire_type {
    Oid stored, array;
    char type; /* type of struct db_column that this column can hold */
};

static const struct wire_type wire_types[] = {
    { PGSQL_INT8, 1016, 'i' },   { PGSQL_INT4, 1007, 'i' }, { PGSQL_NUMERIC, 1231, 'i' },
    { PGSQL_FLOAT8, 1022, 'r' }, { PGSQL_TEXT, 1009, 't' }, { PGSQL_VARCHAR, 1015, 't' },
    { PGSQL_BYTEA, 1001, 't' },
};

struct pgsql_bulk {
    struct db_bulk base;
    const struct wire_type **types;
    char *sql, *update; /* the COPY or INSERT; the UPDATE before it, or NULL */
    bool by_copy;       /* use COPY, because there is no key */
    struct text *parts; /* one array for each column; with COPY, a single text with all rows */
    size_t row_count, bytes;
    bool under_way; /* a COPY or an UPDATE was sent, and its result was not read */
    struct text *arrays;
    /* The arrays as parameters, while the UPDATE is in progress. */
    struct pgsql_parameters parameters;
    size_t sent; /* number of rows in `parameters` */
};

static void add_16(struct text *part, uint16_t number)
{
    number = htobe16(number);
    text_add_bytes(part, (const char *)&number, sizeof number);
}

static void add_32(struct text *part, uint32_t number)
{
    number = htobe32(number);
    text_add_bytes(part, (const char *)&number, sizeof number);
}

static void add_64(struct text *part, uint64_t number)
{
    number = htobe64(number);
    text_add_bytes(part, (const char *)&number, sizeof number);
}

#define NUMERIC_BASE 10000
#define NUMERIC_DIGITS 5 /* digits of 2^64 in this base */
#define NUMERIC_NEGATIVE 0x4000

/*
 * Adds a decimal, which is the number of base 10000 digits, the weight of the first, sign, scale
 * and digits.
 */
static void add_numeric(struct text *part, uint64_t magnitude, bool negative)
{
    uint16_t digits[NUMERIC_DIGITS];
    uint16_t count = 0;
    for (; magnitude; magnitude /= NUMERIC_BASE)
        digits[count++] = (uint16_t)(magnitude % NUMERIC_BASE);
    add_32(part, 8 + 2u * count);
    add_16(part, count);
    add_16(part, count ? (uint16_t)(count - 1) : 0);
    add_16(part, negative ? NUMERIC_NEGATIVE : 0);
    add_16(part, 0);
    while (count)
        add_16(part, digits[--count]);
}

static bool pgsql_bulk_add_integer(struct text *part, Oid stored, int64_t integer)
{
    switch (stored) {
    case PGSQL_INT4:
        if (integer < INT32_MIN || integer > INT32_MAX)
            return false;
        add_32(part, sizeof(int32_t));
        add_32(part, (uint32_t)integer);
        break;
    case PGSQL_INT8:
        add_32(part, sizeof integer);
        add_64(part, (uint64_t)integer);
        break;
    default:
        add_numeric(part, integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer, integer < 0);
    }
    return true;
}

/* Returns false if the column cannot hold the value. */
static bool pgsql_bulk_add_value(struct text *part, const struct wire_type *type,
                                 const struct db_value *value)
{
    uint64_t bits;
    switch (value->type) {
    case DB_INTEGER:
        return pgsql_bulk_add_integer(part, type->stored, value->integer);
    case DB_UNSIGNED:
        if (value->unsigned_integer <= INT64_MAX)
            return pgsql_bulk_add_integer(part, type->stored, (int64_t)value->unsigned_integer);
        if (type->stored != PGSQL_NUMERIC)
            return false;
        add_numeric(part, value->unsigned_integer, false);
        return true;
    case DB_REAL:
        memcpy(&bits, &value->real, sizeof bits);
        add_32(part, sizeof bits);
        add_64(part, bits);
        return true;
    case DB_TEXT:
        add_32(part, (uint32_t)value->text.length);
        text_add_bytes(part, value->text.bytes, value->text.length);
        return value->text.length <= INT_MAX;
    case DB_NULL:
        break;
    }
    add_32(part, (uint32_t)-1);
    return true;
}

static void pgsql_bulk_empty_batch(struct pgsql_bulk *bulk)
{
    bulk->row_count = 0;
    bulk->bytes = 0;
    for (size_t i = 0; i < (bulk->by_copy ? 1 : bulk->base.column_count); i++)
        bulk->parts[i].length = 0;
}

/*
 * libpq stores data that it cannot send at once.  If libpq runs out of memory for the data, the
 * COPY must not be ended.  The server would accept the rows that it has received, without the
 * trailer, as complete.
 * So the session is marked as hung.
 */
static int put_copy(struct pgsql_bulk *bulk, struct error *err)
{
    static const char header[] =
        "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0"; /* the terminating NUL is part of the header */
    static const char trailer[] = { '\377', '\377' };
    struct pgsql_session *session = (struct pgsql_session *)bulk->base.db;
    PGconn *connection = session->connection;
    const struct text *rows = &bulk->parts[0];
    if (PQputCopyData(connection, header, sizeof header) == 1 &&
        PQputCopyData(connection, rows->bytes, (int)rows->length) == 1 &&
        PQputCopyData(connection, trailer, sizeof trailer) == 1 &&
        PQputCopyEnd(connection, NULL) == 1)
        return 0;
    pgsql_fail(session, NULL, err);
    session->hung = true;
    return -1;
}

static int pgsql_bulk_finish_copy(struct pgsql_bulk *bulk, struct error *err)
{
    if (!bulk->under_way)
        return 0;
    bulk->under_way = false;
    return pgsql_end((struct pgsql_session *)bulk->base.db, NULL, err);
}

static int send_as_copy(struct pgsql_bulk *bulk, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)bulk->base.db;
    if (pgsql_bulk_finish_copy(bulk, err) || pgsql_send_script(session, bulk->sql, err))
        return -1;
    PGresult *started = pgsql_next(session);
    bool begun = PQresultStatus(started) == PGRES_COPY_IN;
    int status = begun ? put_copy(bulk, err) : pgsql_fail(session, started, err);
    PQclear(started);
    bulk->under_way = true;
    if (!status) {
        PQflush(session->connection); /* the result reports any failure */
        return 0;
    }
    struct error ignored;
    pgsql_bulk_finish_copy(bulk, &ignored);
    return -1;
}

/*
 * Adds an array in its wire format, which begins with the number of dimensions and a flag for
 * NULLs.  The type of the elements, their number, the index of the first, and the elements follow.
 */
static void add_array(struct text *array, const struct wire_type *type, const struct text *part,
                      size_t row_count)
{
    add_32(array, 1);
    add_32(array, 1);
    add_32(array, type->stored);
    add_32(array, (uint32_t)row_count);
    add_32(array, 1);
    text_add_bytes(array, part->bytes, part->length);
}

static void make_parameters(struct pgsql_bulk *bulk)
{
    size_t count = bulk->base.column_count;
    bulk->arrays = memory_zeroed(count, sizeof *bulk->arrays);
    bulk->parameters = pgsql_parameters_create(count);
    bulk->sent = bulk->row_count;
    for (size_t i = 0; i < count; i++) {
        add_array(&bulk->arrays[i], bulk->types[i], &bulk->parts[i], bulk->row_count);
        bulk->parameters.types[i] = bulk->types[i]->array;
        bulk->parameters.values[i] = bulk->arrays[i].bytes;
        bulk->parameters.lengths[i] = (int)bulk->arrays[i].length;
        bulk->parameters.formats[i] = PGSQL_AS_BINARY;
    }
}

static void free_parameters(struct pgsql_bulk *bulk)
{
    if (!bulk->arrays)
        return;
    for (size_t i = 0; i < bulk->base.column_count; i++)
        text_free(&bulk->arrays[i]);
    free(bulk->arrays);
    bulk->arrays = NULL;
    pgsql_parameters_free(&bulk->parameters);
}

static int insert_arrays(struct pgsql_bulk *bulk, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)bulk->base.db;
    return pgsql_send_parameters(session, bulk->sql, &bulk->parameters, err)
               ? -1
               : pgsql_end(session, NULL, err);
}

/* Waits for the UPDATE in progress, and inserts the rows that it did not find. */
static int finish_arrays(struct pgsql_bulk *bulk, struct error *err)
{
    int64_t updated = 0;
    if (!bulk->under_way)
        return 0;
    bulk->under_way = false;
    int status = pgsql_end((struct pgsql_session *)bulk->base.db, &updated, err);
    if (!status && (size_t)updated < bulk->sent)
        status = insert_arrays(bulk, err);
    free_parameters(bulk);
    return status;
}

static int pgsql_bulk_send_as_arrays(struct pgsql_bulk *bulk, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)bulk->base.db;
    if (finish_arrays(bulk, err))
        return -1;
    make_parameters(bulk);
    int status = bulk->update ? pgsql_send_parameters(session, bulk->update, &bulk->parameters, err)
                              : insert_arrays(bulk, err);
    bulk->under_way = bulk->update && !status;
    if (bulk->under_way)
        PQflush(session->connection);
    else
        free_parameters(bulk);
    return status;
}

static int finish_batch(struct pgsql_bulk *bulk, struct error *err)
{
    return bulk->by_copy ? pgsql_bulk_finish_copy(bulk, err) : finish_arrays(bulk, err);
}

static int send_batch(struct pgsql_bulk *bulk, struct error *err)
{
    if (!bulk->row_count)
        return 0;
    int status = bulk->by_copy ? send_as_copy(bulk, err) : pgsql_bulk_send_as_arrays(bulk, err);
    pgsql_bulk_empty_batch(bulk);
    return status;
}

static char *copy_statement(const struct db_bulk *bulk)
{
    struct text sql = { 0 };
    text_add(&sql, "COPY ");
    text_add_identifier(&sql, bulk->table);
    text_add(&sql, " (");
    db_add_columns(&sql, bulk->columns, bulk->column_count);
    text_add(&sql, ") FROM STDIN (FORMAT binary)");
    return sql.bytes;
}

/* Adds the condition that a row of the table has the same key as a row of `n`. */
static void add_same_key(struct text *sql, const struct db_bulk *bulk)
{
    for (size_t i = 0; i < bulk->key_count; i++) {
        text_add(sql, i ? " AND " : " WHERE ");
        text_add_identifier(sql, bulk->table);
        text_add(sql, ".");
        text_add_identifier(sql, bulk->columns[i].name);
        text_format(sql, " = n.c%zu", i + 1);
    }
}

/*
 * Adds the table expression `unnest(...) n (c1, c2)` for the arrays.  Each array is in a subquery,
 * so that the planner does not know the number of elements and uses the index of the key.
 * Otherwise the server might read the whole table for each batch.
 */
static void add_arrays(struct text *sql, const struct db_bulk *bulk)
{
    for (size_t i = 0; i < bulk->column_count; i++)
        text_format(sql, "%s(SELECT $%zu)", i ? ", " : "unnest(", i + 1);
    for (size_t i = 0; i < bulk->column_count; i++)
        text_format(sql, "%sc%zu", i ? ", " : ") n (", i + 1);
    text_add(sql, ")");
}

/* Returns an INSERT of the rows that are not in the table yet. */
static char *insert_statement(const struct db_bulk *bulk)
{
    struct text sql = { 0 };
    db_add_insert(&sql, bulk);
    text_add(&sql, " SELECT * FROM ");
    add_arrays(&sql, bulk);
    text_add(&sql, " WHERE NOT EXISTS (SELECT FROM ");
    text_add_identifier(&sql, bulk->table);
    add_same_key(&sql, bulk);
    text_add(&sql, ")");
    db_add_on_conflict(&sql, bulk);
    return sql.bytes;
}

/* Returns NULL if all columns are in the key, because no column is left to update. */
static char *update_statement(const struct db_bulk *bulk)
{
    struct text sql = { 0 };
    if (bulk->key_count == bulk->column_count)
        return NULL;
    text_add(&sql, "UPDATE ");
    text_add_identifier(&sql, bulk->table);
    for (size_t i = bulk->key_count; i < bulk->column_count; i++) {
        text_add(&sql, i == bulk->key_count ? " SET " : ", ");
        text_add_identifier(&sql, bulk->columns[i].name);
        text_format(&sql, " = n.c%zu", i + 1);
    }
    text_add(&sql, " FROM ");
    add_arrays(&sql, bulk);
    add_same_key(&sql, bulk);
    return sql.bytes;
}

int pgsql_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct pgsql_bulk *bulk = (struct pgsql_bulk *)base;
    size_t bytes = db_row_bytes(row, base->column_count);
    bool full = bulk->by_copy ? bulk->bytes + bytes > COPY_BYTES
                              : bulk->bytes + bytes > BATCH_BYTES || bulk->row_count == ARRAY_ROWS;
    if (full && send_batch(bulk, err))
        return -1;
    if (bulk->by_copy)
        add_16(&bulk->parts[0], (uint16_t)bulk->base.column_count);
    for (size_t i = 0; i < bulk->base.column_count; i++)
        if (!pgsql_bulk_add_value(&bulk->parts[bulk->by_copy ? 0 : i], bulk->types[i], &row[i]))
            return db_value_misfit(&bulk->base.columns[i], err);
    bulk->row_count++;
    bulk->bytes += bytes;
    return 0;
}

static const struct wire_type *pgsql_bulk_wire_type(Oid stored, char type)
{
    for (size_t i = 0; i < sizeof wire_types / sizeof *wire_types; i++)
        if (wire_types[i].stored == stored && wire_types[i].type == type)
            return &wire_types[i];
    return NULL;
}

static int take_types(struct pgsql_bulk *bulk, const PGresult *described, struct error *err)
{
    for (size_t i = 0; i < bulk->base.column_count; i++) {
        bulk->types[i] =
            pgsql_bulk_wire_type(PQftype(described, (int)i), bulk->base.columns[i].type);
        if (!bulk->types[i])
            return fail(err, ERROR_OTHER,
                        "column '%s' of table '%s' has a type that cannot store '%c'",
                        bulk->base.columns[i].name, bulk->base.table, bulk->base.columns[i].type);
    }
    return 0;
}

/* Reads the types of the columns.  Fails if the table or a column does not exist. */
static int read_types(struct pgsql_bulk *bulk, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)bulk->base.db;
    struct text sql = { 0 };
    text_add(&sql, "SELECT ");
    db_add_columns(&sql, bulk->base.columns, bulk->base.column_count);
    text_add(&sql, " FROM ");
    text_add_identifier(&sql, bulk->base.table);
    text_add(&sql, " LIMIT 0");
    int status = pgsql_send(session, sql.bytes, NULL, 0, err);
    text_free(&sql);
    if (status)
        return -1;

    PGresult *described = pgsql_next(session);
    if (PQresultStatus(described) == PGRES_TUPLES_OK)
        status = take_types(bulk, described, err);
    else
        status = pgsql_fail(session, described, err);
    PQclear(described);
    struct error ignored;
    return pgsql_end(session, NULL, status ? &ignored : err) ? -1 : status;
}

struct db_bulk *pgsql_bulk_begin(const struct db_bulk *target, struct error *err)
{
    struct pgsql_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    bulk->base = *target;
    bulk->types = memory_zeroed(target->column_count, sizeof *bulk->types);
    bulk->parts = memory_zeroed(target->column_count, sizeof *bulk->parts);
    bulk->by_copy = !target->key_count;
    bulk->sql = target->key_count ? insert_statement(&bulk->base) : copy_statement(&bulk->base);
    bulk->update = target->key_count ? update_statement(&bulk->base) : NULL;
    if (read_types(bulk, err)) {
        pgsql_bulk_free(&bulk->base);
        return NULL;
    }
    return &bulk->base;
}

void pgsql_bulk_free(struct db_bulk *base)
{
    struct pgsql_bulk *bulk = (struct pgsql_bulk *)base;
    struct error ignored;
    if (bulk->under_way)
        pgsql_end((struct pgsql_session *)base->db, NULL, &ignored);
    free_parameters(bulk);
    for (size_t i = 0; i < bulk->base.column_count; i++)
        text_free(&bulk->parts[i]);
    free(bulk->parts);
    free(bulk->types);
    free(bulk->sql);
    free(bulk->update);
    free(bulk);
}

int pgsql_bulk_send(struct db_bulk *base, struct error *err)
{
    struct pgsql_bulk *bulk = (struct pgsql_bulk *)base;
    return send_batch(bulk, err) || finish_batch(bulk, err) ? -1 : 0;
}
