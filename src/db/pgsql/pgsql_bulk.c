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
 * After ARRAY_BATCHES batches with a key, further rows are copied into a temporary table.  At the
 * end, one UPDATE and one INSERT write them to the bulk write's table, which takes a third of the
 * time.  For few rows this would be too expensive, because creating a temporary table writes about
 * a hundred kilobytes of WAL.
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
#define ARRAY_BATCHES 4

#define STAGED "pg_temp.fairmill_staged"

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
    bool by_copy;       /* use COPY: no key, or rows go to the temporary table */
    bool is_staged;     /* rows go to the temporary table */
    struct text *parts; /* one array for each column; with COPY, a single text with all rows */
    size_t row_count, bytes, batches;
    size_t staged;              /* rows in the temporary table */
    struct pgsql_range *ranges; /* the ranges of these rows' keys */
    bool under_way;             /* a COPY or an UPDATE was sent, and its result was not read */
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
    bulk->staged += bulk->is_staged ? bulk->row_count : 0;
    bulk->batches++;
    pgsql_bulk_empty_batch(bulk);
    return status;
}

static void add_copy(struct text *sql, const struct db_bulk *bulk, const char *table)
{
    text_add(sql, "COPY ");
    text_add(sql, table);
    text_add(sql, " (");
    db_add_columns(sql, bulk->columns, bulk->column_count);
    text_add(sql, ") FROM STDIN (FORMAT binary)");
}

static char *copy_statement(const struct db_bulk *bulk)
{
    struct text sql = { 0 }, table = { 0 };
    text_add_identifier(&table, bulk->table);
    add_copy(&sql, bulk, table.bytes);
    text_free(&table);
    return sql.bytes;
}

/* Adds ` n (c1, c2)`. */
static void add_alias(struct text *sql, const struct db_bulk *bulk)
{
    for (size_t i = 0; i < bulk->column_count; i++)
        text_format(sql, "%sc%zu", i ? ", " : " n (", i + 1);
    text_add(sql, ")");
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
 * Adds an INSERT of the rows that are not in the table yet.  `rows` is a table expression with the
 * columns of the bulk write, in the same order.  `where` is a further condition on the table's
 * rows, or "".
 */
static void add_insert_new(struct text *sql, const struct db_bulk *bulk, const char *rows,
                           const char *where)
{
    db_add_insert(sql, bulk);
    text_format(sql, " SELECT * FROM %s", rows);
    add_alias(sql, bulk);
    text_add(sql, " WHERE NOT EXISTS (SELECT FROM ");
    text_add_identifier(sql, bulk->table);
    add_same_key(sql, bulk);
    text_format(sql, "%s)", where);
    db_add_on_conflict(sql, bulk);
}

/*
 * Adds a table expression for the arrays.  Each array is in a subquery, so that the planner does
 * not know the number of elements and uses the index of the key.  Otherwise the server might read
 * the whole table for each batch.
 */
static void add_arrays(struct text *sql, const struct db_bulk *bulk)
{
    for (size_t i = 0; i < bulk->column_count; i++)
        text_format(sql, "%s(SELECT $%zu)", i ? ", " : "unnest(", i + 1);
    text_add(sql, ")");
}

static char *insert_statement(const struct db_bulk *bulk)
{
    struct text sql = { 0 }, rows = { 0 };
    add_arrays(&rows, bulk);
    add_insert_new(&sql, bulk, rows.bytes, "");
    text_free(&rows);
    return sql.bytes;
}

/* Adds an UPDATE of the table from `rows`, which is as in add_insert_new(). */
static void add_update(struct text *sql, const struct db_bulk *bulk, const char *rows)
{
    text_add(sql, "UPDATE ");
    text_add_identifier(sql, bulk->table);
    for (size_t i = bulk->key_count; i < bulk->column_count; i++) {
        text_add(sql, i == bulk->key_count ? " SET " : ", ");
        text_add_identifier(sql, bulk->columns[i].name);
        text_format(sql, " = n.c%zu", i + 1);
    }
    text_format(sql, " FROM %s", rows);
    add_alias(sql, bulk);
    add_same_key(sql, bulk);
}

/* Returns NULL if all columns are in the key, because no column is left to update. */
static char *update_statement(const struct db_bulk *bulk)
{
    struct text sql = { 0 }, rows = { 0 };
    if (bulk->key_count == bulk->column_count)
        return NULL;
    add_arrays(&rows, bulk);
    add_update(&sql, bulk, rows.bytes);
    text_free(&rows);
    return sql.bytes;
}

/*
 * Sets *may to true if the session may create temporary tables, else to false.  If it is false, the
 * bulk write continues with arrays.
 */
static int may_stage(struct pgsql_session *session, bool *may, struct error *err)
{
    *may = false;
    if (pgsql_send_script(session,
                          "SELECT pg_catalog.has_database_privilege("
                          "pg_catalog.current_database(), 'TEMPORARY')",
                          err))
        return -1;
    PGresult *answer = pgsql_next(session);
    if (PQresultStatus(answer) == PGRES_TUPLES_OK)
        *may = *PQgetvalue(answer, 0, 0) == 't';
    int status = PQresultStatus(answer) == PGRES_TUPLES_OK ? 0 : pgsql_fail(session, answer, err);
    PQclear(answer);
    struct error ignored;
    return pgsql_end(session, NULL, status ? &ignored : err) || status ? -1 : 0;
}

static int begin_staging(struct pgsql_bulk *bulk, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)bulk->base.db;
    struct text sql = { 0 };
    bool may;
    if (finish_batch(bulk, err) || may_stage(session, &may, err))
        return -1;
    if (!may)
        return 0;
    text_add(&sql, "CREATE TEMPORARY TABLE fairmill_staged ON COMMIT DROP AS SELECT ");
    db_add_columns(&sql, bulk->base.columns, bulk->base.column_count);
    text_add(&sql, " FROM ");
    text_add_identifier(&sql, bulk->base.table);
    text_add(&sql, " WITH NO DATA");
    int status = pgsql_run(session, sql.bytes, err);
    sql.length = 0;
    add_copy(&sql, &bulk->base, STAGED);
    free(bulk->sql);
    bulk->sql = sql.bytes;
    bulk->by_copy = bulk->is_staged = true;
    return status;
}

/*
 * Runs a statement with an argument for each `?`.  Sets *affected (may be NULL) to the number of
 * rows that it wrote.
 */
static int pgsql_bulk_run_with(struct pgsql_bulk *bulk, const char *sql,
                               const struct db_value *arguments, size_t count, int64_t *affected,
                               struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)bulk->base.db;
    return pgsql_send(session, sql, arguments, count, err) ? -1 : pgsql_end(session, affected, err);
}

/*
 * Writes the rows of the temporary table to the bulk write's table.  A condition tells the planner
 * which part of that table has the keys.  Without the condition, the server would read the whole
 * table.
 */
static int take_staged(struct pgsql_bulk *bulk, struct error *err)
{
    struct text sql = { 0 }, where = { 0 };
    struct db_value *arguments = memory_zeroed(2 * bulk->base.key_count, sizeof *arguments);
    size_t count = pgsql_ranges_add(bulk->ranges, &bulk->base, &where, arguments);
    const char *condition = where.bytes ? where.bytes : "";
    int64_t updated = 0;
    add_update(&sql, &bulk->base, STAGED);
    text_add(&sql, condition);
    int status = pgsql_bulk_run_with(bulk, sql.bytes, arguments, count, &updated, err);
    sql.length = 0;
    add_insert_new(&sql, &bulk->base, STAGED, condition);
    if (!status && (size_t)updated < bulk->staged)
        status = pgsql_bulk_run_with(bulk, sql.bytes, arguments, count, NULL, err);
    text_free(&sql);
    text_free(&where);
    free(arguments);
    return status;
}

/*
 * If a table has no statistics yet, the planner assumes that the key ranges contain one row.  Its
 * plan would read all rows of the ranges for each row of the temporary table.  So turn nested loops
 * off.
 */
static int end_staging(struct pgsql_bulk *bulk, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)bulk->base.db;
    if (!bulk->is_staged)
        return 0;
    if (pgsql_run(session, "SET LOCAL enable_nestloop = off", err) || take_staged(bulk, err))
        return -1;
    return pgsql_run(session, "SET LOCAL enable_nestloop TO DEFAULT; DROP TABLE " STAGED, err);
}

int pgsql_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct pgsql_bulk *bulk = (struct pgsql_bulk *)base;
    size_t bytes = db_row_bytes(row, base->column_count);
    bool full = bulk->by_copy ? bulk->bytes + bytes > COPY_BYTES
                              : bulk->bytes + bytes > BATCH_BYTES || bulk->row_count == ARRAY_ROWS;
    if (full && send_batch(bulk, err))
        return -1;
    if (full && !bulk->by_copy && bulk->update && bulk->batches == ARRAY_BATCHES &&
        begin_staging(bulk, err))
        return -1;
    if (bulk->is_staged)
        pgsql_ranges_note(bulk->ranges, base->key_count, row);
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
    bulk->ranges = memory_zeroed(target->key_count, sizeof *bulk->ranges);
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
    pgsql_ranges_free(bulk->ranges, bulk->base.key_count);
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
    return send_batch(bulk, err) || finish_batch(bulk, err) || end_staging(bulk, err) ? -1 : 0;
}
