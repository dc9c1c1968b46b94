/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "db/mysql/mysql_session.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Rows are collected in batches.  If both the library and the server are MariaDB's, a batch is sent
 * as one array for each column, with a statement for one row.  Otherwise, a batch is sent with a
 * statement for as many rows as the batch has.
 */

#define ARRAY_ROWS 1000
#define STATEMENT_ROWS 100
#define STATEMENT_PARAMETERS 65535

/*
 * Approximate maximum length of a batch, in bytes.  A batch is also limited to a quarter of the
 * server's max_allowed_packet.
 */
#define BATCH_BYTES ((size_t)1024 * 1024)

bool mysql_binds_arrays = true;

union mysql_bulk_slot {
    int64_t integer;
    double real;
    size_t offset; /* of a text in `texts`, before the batch is sent */
    char *bytes;   /* of the text, while the batch is sent */
};

struct batch_column {
    char type;
    bool has_negative;
    bool has_unsigned; /* above INT64_MAX */
    union mysql_bulk_slot *slots;
    unsigned long *lengths; /* lengths of texts */
    char *nulls;            /* for each row, 1 (MariaDB's STMT_INDICATOR_NULL) or 0 */
};

struct mysql_bulk {
    struct db_bulk base;
    MYSQL_STMT *statement;
    size_t statement_rows; /* number of rows in the prepared statement */

    /* The batch. */
    struct batch_column *columns;
    struct text texts;
    size_t row_count, bytes;
    size_t most_rows, most_bytes;
    bool as_arrays;
};

static bool takes_arrays(struct mysql_session *session)
{
#if HAVE_DECL_STMT_ATTR_ARRAY_SIZE
    unsigned long long abilities = 0;
    if (mariadb_get_info(session->mysql, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES,
                         &abilities))
        return false;
    return mysql_binds_arrays && abilities & (MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32);
#else
    (void)session;
    return false;
#endif
}

static void add_on_duplicate(struct text *sql, const struct mysql_bulk *bulk)
{
    if (!bulk->base.key_count)
        return;
    text_add(sql, " ON DUPLICATE KEY UPDATE ");
    /* The clause must set a column.  If all columns are in the key, set them to the same values. */
    size_t first = bulk->base.key_count < bulk->base.column_count ? bulk->base.key_count : 0;
    for (size_t i = first; i < bulk->base.column_count; i++) {
        text_add(sql, i > first ? ", " : "");
        text_add_identifier(sql, bulk->base.columns[i].name);
        text_add(sql, " = VALUES(");
        text_add_identifier(sql, bulk->base.columns[i].name);
        text_add(sql, ")");
    }
}

/* Ensures that `statement` inserts `row_count` rows. */
static int prepare_for(struct mysql_bulk *bulk, size_t row_count, struct error *err)
{
    if (bulk->statement && bulk->statement_rows == row_count)
        return 0;
    if (bulk->statement)
        mysql_stmt_close(bulk->statement);

    struct text sql = { 0 };
    db_add_insert(&sql, &bulk->base);
    db_add_values(&sql, &bulk->base, row_count);
    add_on_duplicate(&sql, bulk);
    bulk->statement = session_prepare((struct mysql_session *)bulk->base.db, sql.bytes, err);
    bulk->statement_rows = row_count;
    text_free(&sql);
    return bulk->statement ? 0 : -1;
}

static enum enum_field_types mysql_bulk_wire_type(const struct batch_column *column)
{
    return column->type == 'i'   ? MYSQL_TYPE_LONGLONG
           : column->type == 'r' ? MYSQL_TYPE_DOUBLE
                                 : MYSQL_TYPE_STRING;
}

#if HAVE_DECL_STMT_ATTR_ARRAY_SIZE
static int mysql_bulk_send_as_arrays(struct mysql_bulk *bulk, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)bulk->base.db;
    unsigned row_count = (unsigned)bulk->row_count;
    if (prepare_for(bulk, 1, err))
        return -1;
    if (mysql_stmt_attr_set(bulk->statement, STMT_ATTR_ARRAY_SIZE, &row_count))
        return session_fail_statement(session, bulk->statement, err);
    MYSQL_BIND *parameters = memory_zeroed(bulk->base.column_count, sizeof *parameters);
    for (size_t i = 0; i < bulk->base.column_count; i++) {
        struct batch_column *column = &bulk->columns[i];
        parameters[i].buffer_type = mysql_bulk_wire_type(column);
        parameters[i].is_unsigned = column->has_unsigned;
        parameters[i].buffer = column->slots;
        parameters[i].length = column->lengths;
        parameters[i].u.indicator = column->nulls;
    }
    return session_send_parameters(session, bulk->statement, parameters, bulk->base.column_count,
                                   err);
}
#else
static int mysql_bulk_send_as_arrays(struct mysql_bulk *bulk, struct error *err)
{
    return fail(err, ERROR_OTHER, "%s: the client library cannot bind arrays", bulk->base.table);
}
#endif

static void bind_slot(MYSQL_BIND *parameter, struct batch_column *column, size_t row)
{
    if (column->nulls[row]) {
        parameter->buffer_type = MYSQL_TYPE_NULL;
        return;
    }
    parameter->buffer_type = mysql_bulk_wire_type(column);
    parameter->is_unsigned = column->has_unsigned;
    parameter->buffer = &column->slots[row];
    if (column->type == 't') {
        parameter->buffer = column->slots[row].bytes;
        parameter->buffer_length = column->lengths[row];
    }
}

static int send_as_rows(struct mysql_bulk *bulk, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)bulk->base.db;
    if (prepare_for(bulk, bulk->row_count, err))
        return -1;
    size_t count = bulk->row_count * bulk->base.column_count;
    MYSQL_BIND *parameters = memory_zeroed(count, sizeof *parameters);
    MYSQL_BIND *parameter = parameters;
    for (size_t row = 0; row < bulk->row_count; row++)
        for (size_t i = 0; i < bulk->base.column_count; i++)
            bind_slot(parameter++, &bulk->columns[i], row);
    return session_send_parameters(session, bulk->statement, parameters, count, err);
}

static void mysql_bulk_empty_batch(struct mysql_bulk *bulk)
{
    bulk->row_count = 0;
    bulk->bytes = 0;
    bulk->texts.length = 0;
    for (size_t i = 0; i < bulk->base.column_count; i++)
        bulk->columns[i].has_negative = bulk->columns[i].has_unsigned = false;
}

int session_bulk_send(struct db_bulk *base, struct error *err)
{
    struct mysql_bulk *bulk = (struct mysql_bulk *)base;
    if (!bulk->row_count)
        return 0;
    for (size_t i = 0; i < base->column_count; i++) {
        struct batch_column *column = &bulk->columns[i];
        for (size_t row = 0; column->type == 't' && row < bulk->row_count; row++)
            column->slots[row].bytes = bulk->texts.bytes + column->slots[row].offset;
    }
    int status = bulk->as_arrays ? mysql_bulk_send_as_arrays(bulk, err) : send_as_rows(bulk, err);
    mysql_bulk_empty_batch(bulk);
    return status;
}

/*
 * Returns true if the row must wait for the next batch.  In a batch, the integers of a column are
 * sent either all as signed or all as unsigned.  So a negative number cannot be in the same batch
 * as a number above INT64_MAX.
 */
static bool goes_against_batch(const struct mysql_bulk *bulk, const struct db_value *row)
{
    for (size_t i = 0; i < bulk->base.column_count; i++) {
        const struct batch_column *column = &bulk->columns[i];
        if ((row[i].type == DB_UNSIGNED && column->has_negative) ||
            (row[i].type == DB_INTEGER && row[i].integer < 0 && column->has_unsigned))
            return true;
    }
    return false;
}

static void store(struct mysql_bulk *bulk, struct batch_column *column,
                  const struct db_value *value)
{
    size_t row = bulk->row_count;
    column->nulls[row] = value->type == DB_NULL;
    switch (value->type) {
    case DB_INTEGER:
        column->has_negative |= value->integer < 0;
        column->slots[row].integer = value->integer;
        return;
    case DB_UNSIGNED:
        column->has_unsigned |= value->unsigned_integer > INT64_MAX;
        column->slots[row].integer = (int64_t)value->unsigned_integer;
        return;
    case DB_REAL:
        column->slots[row].real = value->real;
        return;
    case DB_TEXT:
        column->slots[row].offset = bulk->texts.length;
        column->lengths[row] = value->text.length;
        text_add_bytes(&bulk->texts, value->text.bytes, value->text.length);
        return;
    case DB_NULL:
        break;
    }
    column->slots[row].offset = 0;
    if (column->lengths)
        column->lengths[row] = 0;
}

int session_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct mysql_bulk *bulk = (struct mysql_bulk *)base;
    size_t bytes = db_row_bytes(row, base->column_count);
    bool is_full = bulk->row_count == bulk->most_rows || bulk->bytes + bytes > bulk->most_bytes ||
                   goes_against_batch(bulk, row);
    if (is_full && session_bulk_send(base, err))
        return -1;
    for (size_t i = 0; i < bulk->base.column_count; i++)
        store(bulk, &bulk->columns[i], &row[i]);
    bulk->row_count++;
    bulk->bytes += bytes;
    return 0;
}

static void mysql_bulk_make_batch(struct mysql_bulk *bulk)
{
    bulk->columns = memory_zeroed(bulk->base.column_count, sizeof *bulk->columns);
    for (size_t i = 0; i < bulk->base.column_count; i++) {
        struct batch_column *column = &bulk->columns[i];
        column->type = bulk->base.columns[i].type;
        column->slots = memory_zeroed(bulk->most_rows, sizeof *column->slots);
        column->nulls = memory_zeroed(bulk->most_rows, 1);
        if (column->type == 't')
            column->lengths = memory_zeroed(bulk->most_rows, sizeof *column->lengths);
    }
    text_add(&bulk->texts, "");
}

struct db_bulk *session_bulk_begin(const struct db_bulk *target, struct error *err)
{
    struct mysql_session *session = (struct mysql_session *)target->db;
    size_t column_count = target->column_count;
    struct mysql_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    bulk->base = *target;
    bulk->as_arrays = takes_arrays(session);
    bulk->most_rows = bulk->as_arrays ? ARRAY_ROWS : STATEMENT_ROWS;
    if (!bulk->as_arrays && bulk->most_rows > STATEMENT_PARAMETERS / column_count)
        bulk->most_rows = STATEMENT_PARAMETERS / column_count;
    bulk->most_bytes = BATCH_BYTES;
    if (bulk->most_bytes > session->packet_bytes / 4)
        bulk->most_bytes = session->packet_bytes / 4;

    mysql_bulk_make_batch(bulk);

    /* Prepare now, so that a missing table or column is reported before the first row. */
    if (prepare_for(bulk, bulk->as_arrays ? 1 : bulk->most_rows, err)) {
        session_bulk_free(&bulk->base);
        return NULL;
    }
    return &bulk->base;
}

void session_bulk_free(struct db_bulk *base)
{
    struct mysql_bulk *bulk = (struct mysql_bulk *)base;
    for (size_t i = 0; i < base->column_count; i++) {
        free(bulk->columns[i].slots);
        free(bulk->columns[i].lengths);
        free(bulk->columns[i].nulls);
    }
    free(bulk->columns);
    text_free(&bulk->texts);
    if (bulk->statement)
        mysql_stmt_close(bulk->statement);
    free(bulk);
}
