/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/pgsql/pgsql_session.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Rows arrive one by one, in libpq's single-row mode, and their values arrive as text.  Text is as
 * fast as binary, and it works for every number type that a foreign table may have.
 *
 * In single-row mode, libpq creates a result with all columns for each row.  That takes more than
 * half of the time that this process spends on a row.  For the lines of a COPY, libpq creates no
 * results, so queries with many rows use COPY.  But a COPY accepts no arguments and does not
 * describe its columns, so it needs one more round trip at the start.
 */

/*
 * Maximum time, in seconds, for which this process may stay stopped (SIGSTOP) while rows arrive
 * through a unix socket.
 */
#define STOPPED_S 10

struct pgsql_rows_answer_column {
    Oid stored;
    char type;       /* requested type */
    bool is_integer; /* stored and requested as an integer */
    char *name;
    struct text decoded; /* decoded value of a bytea column */
};

struct pgsql_rows {
    struct db_rows base;
    PGresult *result; /* the last row that was returned, the next row, or the result that ended the
                         query */
    bool unread;      /* `result` was not returned yet */
    bool copies;      /* more lines of a COPY follow */
    char *line;       /* the last line of the COPY that was received */
    bool savepoint;
    timer_t waker;
    bool has_waker;
    struct pgsql_rows_answer_column *columns;
    struct db_value *values;
    size_t count;
};

static bool is_row(const PGresult *result)
{
    return result && PQresultStatus(result) == PGRES_SINGLE_TUPLE;
}

static void receive(struct pgsql_rows *rows)
{
    PQclear(rows->result);
    rows->result = pgsql_next((struct pgsql_session *)rows->base.db);
    rows->unread = true;
}

/* Canceling a query aborts the open transaction; a savepoint limits that to the query. */
static int set_savepoint(struct pgsql_rows *rows, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)rows->base.db;
    if (PQtransactionStatus(session->connection) != PQTRANS_INTRANS)
        return 0;
    rows->savepoint = true;
    return pgsql_run(session, "SAVEPOINT fairmill_query", err);
}

static void release_savepoint(struct pgsql_rows *rows)
{
    struct pgsql_session *session = (struct pgsql_session *)rows->base.db;
    struct error ignored;
    if (rows->savepoint && PQtransactionStatus(session->connection) == PQTRANS_INERROR)
        pgsql_run(session, "ROLLBACK TO SAVEPOINT fairmill_query", &ignored);
    if (rows->savepoint)
        pgsql_run(session, "RELEASE SAVEPOINT fairmill_query", &ignored);
}

/*
 * While this process does not read its rows, the server waits, and its transaction keeps other
 * sessions from altering the tables.  With TCP, tcp_user_timeout ends this wait.  With a unix
 * socket, the server checks no time limit while it waits, so it would wait as long as this process
 * is stopped.  Therefore a timer sends SIGCONT to this process, which has no effect while the
 * process runs.
 *
 * With a cursor, the server would not wait but be idle, and it has a time limit for idle sessions.
 * But reading rows would take a third longer.
 */
static void set_waker(struct pgsql_rows *rows)
{
    const struct pgsql_session *session = (struct pgsql_session *)rows->base.db;
    const char *host = PQhost(session->connection);
    bool by_path = host && (*host == '/' || *host == '@');
    if (session->base.role != DB_SOURCE || !by_path)
        return;
    struct sigevent go_on = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT };
    const struct itimerspec again = { { STOPPED_S, 0 }, { STOPPED_S, 0 } };
    rows->has_waker = !timer_create(CLOCK_MONOTONIC, &go_on, &rows->waker);
    if (rows->has_waker)
        timer_settime(rows->waker, 0, &again, NULL);
}

/*
 * Receives the next line into rows->line.  After the last line, returns false; rows->result is then
 * the end of the COPY or its error.
 */
static bool receive_line(struct pgsql_rows *rows)
{
    PQfreemem(rows->line);
    rows->line = pgsql_next_line((struct pgsql_session *)rows->base.db);
    if (rows->line)
        return true;
    rows->copies = false;
    receive(rows);
    return false;
}

static void pgsql_rows_finish_copy(struct pgsql_rows *rows)
{
    for (int i = 0; rows->copies && i < ROWS_TO_READ_ON; i++)
        receive_line(rows);
    if (rows->copies)
        pgsql_cancel((struct pgsql_session *)rows->base.db);
    while (rows->copies)
        receive_line(rows);
    PQfreemem(rows->line);
}

void pgsql_finish(struct db_rows *base)
{
    struct pgsql_rows *rows = (struct pgsql_rows *)base;
    pgsql_rows_finish_copy(rows);
    for (int i = 0; is_row(rows->result) && i < ROWS_TO_READ_ON; i++)
        receive(rows);
    if (is_row(rows->result))
        pgsql_cancel((struct pgsql_session *)base->db);
    /* After the last row or an error, a NULL result marks the end. */
    PQclear(rows->result);
    pgsql_pass_over((struct pgsql_session *)base->db);
    if (rows->has_waker)
        timer_delete(rows->waker);
    release_savepoint(rows);
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->columns[i].name);
        text_free(&rows->columns[i].decoded);
    }
    free(rows->columns);
    free(rows->values);
    free(rows);
}

/* Returns true if the current result is an error. */
static bool failed(const struct pgsql_rows *rows)
{
    return !is_row(rows->result) &&
           (!rows->result || (PQresultStatus(rows->result) != PGRES_TUPLES_OK &&
                              PQresultStatus(rows->result) != PGRES_COMMAND_OK));
}

static int describe_columns(struct pgsql_rows *rows, const char *types, struct error *err)
{
    size_t count = (size_t)PQnfields(rows->result);
    if (db_check_columns(rows->base.db, count, types, err))
        return -1;
    rows->columns = memory_zeroed(count, sizeof *rows->columns);
    rows->values = memory_zeroed(count, sizeof *rows->values);
    rows->count = count;
    for (size_t i = 0; i < count; i++) {
        Oid stored = PQftype(rows->result, (int)i);
        bool integer = stored == PGSQL_INT2 || stored == PGSQL_INT4 || stored == PGSQL_INT8;
        rows->columns[i] = (struct pgsql_rows_answer_column){
            .stored = stored,
            .type = types[i],
            .is_integer = integer && types[i] == 'i',
            .name = memory_text(PQfname(rows->result, (int)i)),
        };
    }
    return 0;
}

static int start_query(struct pgsql_rows *rows, const struct db_question *question,
                       struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)rows->base.db;
    if (set_savepoint(rows, err) ||
        pgsql_send(session, question->sql, question->arguments, question->argument_count, err))
        return -1;
    PQsetSingleRowMode(session->connection);
    set_waker(rows);
    receive(rows);
    return failed(rows) ? pgsql_fail(session, rows->result, err)
                        : describe_columns(rows, question->column_types, err);
}

static bool all_are_integers(const struct db_value *arguments, size_t count)
{
    while (count > 0 && arguments[count - 1].type == DB_INTEGER)
        count--;
    return count == 0;
}

/* Reads the columns of the query, because a COPY does not describe them. */
static int pgsql_rows_describe(struct pgsql_rows *rows, const struct db_question *question,
                               struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)rows->base.db;
    if (pgsql_send_describe(session, question->sql, question->argument_count, err))
        return -1;
    receive(rows);
    int status = PQresultStatus(rows->result) == PGRES_COMMAND_OK
                     ? describe_columns(rows, question->column_types, err)
                     : pgsql_fail(session, rows->result, err);
    PQclear(rows->result);
    rows->result = NULL;
    pgsql_pass_over(session);
    return status;
}

static int start_copy(struct pgsql_rows *rows, const struct db_question *question,
                      struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)rows->base.db;
    if (set_savepoint(rows, err) || pgsql_rows_describe(rows, question, err) ||
        pgsql_send_copy(session, question->sql, question->arguments, err))
        return -1;
    set_waker(rows);
    receive(rows);
    rows->copies = PQresultStatus(rows->result) == PGRES_COPY_OUT;
    return rows->copies ? 0 : pgsql_fail(session, rows->result, err);
}

struct db_rows *pgsql_query(struct db *db, const struct db_question *question, struct error *err)
{
    struct pgsql_rows *rows = memory_zeroed(1, sizeof *rows);
    rows->base.db = db;
    bool copy =
        question->has_many_rows && all_are_integers(question->arguments, question->argument_count);
    if (!(copy ? start_copy(rows, question, err) : start_query(rows, question, err)))
        return &rows->base;
    pgsql_finish(&rows->base);
    return NULL;
}

/*
 * Does not check the digits, because the server's integers are valid and in range.  Strict parsing
 * would take a fifth of the time spent on a row.
 */
static int64_t read_integer(const char *digits)
{
    bool negative = *digits == '-';
    uint64_t magnitude = 0;
    for (digits += negative; *digits; digits++)
        magnitude = magnitude * 10 + (uint64_t)(*digits - '0');
    return (int64_t)(negative ? 0 - magnitude : magnitude);
}

static unsigned char nibble(char digit)
{
    return (unsigned char)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* Decodes bytea in hexadecimal format, for example \x616263. */
static struct db_value decode_bytea(struct pgsql_rows_answer_column *column, const char *hex,
                                    size_t length)
{
    struct text *decoded = &column->decoded;
    decoded->length = 0;
    text_add_bytes(decoded, "", 0);
    for (size_t i = 2; i + 1 < length; i += 2) {
        char byte = (char)(nibble(hex[i]) << 4 | nibble(hex[i + 1]));
        text_add_bytes(decoded, &byte, 1);
    }
    return db_bytes(decoded->bytes, decoded->length);
}

/* Treats 12.00 as an integer and 12.5 as a real. */
static int read_decimal(struct db_value *value, const char *column, struct error *err)
{
    const char *point = memchr(value->text.bytes, '.', value->text.length);
    if (!point)
        return 0;
    size_t whole = (size_t)(point - value->text.bytes);
    if (strspn(point + 1, "0") < value->text.length - whole - 1)
        return db_value_fit(value, 'r', column, err);
    value->text.length = whole;
    return 0;
}

/* Converts a value.  `bytes` must be followed by NUL. */
static int pgsql_rows_read_bytes(char *bytes, size_t length,
                                 struct pgsql_rows_answer_column *column, struct db_value *value,
                                 struct error *err)
{
    if (column->is_integer) {
        value->type = DB_INTEGER;
        value->integer = read_integer(bytes);
        return 0;
    }
    *value = db_bytes(bytes, length);
    switch (column->stored) {
    case PGSQL_BOOL:
        *value = db_integer(bytes[0] == 't');
        break;
    case PGSQL_BYTEA:
        *value = decode_bytea(column, bytes, length);
        break;
    case PGSQL_NUMERIC:
        if (read_decimal(value, column->name, err))
            return -1;
        break;
    case PGSQL_FLOAT4:
    case PGSQL_FLOAT8:
        if (db_value_fit(value, column->type == 'n' ? 'n' : 'r', column->name, err))
            return -1;
        break;
    }
    return db_value_fit(value, column->type, column->name, err);
}

static int pgsql_rows_read_value(const PGresult *result, int i,
                                 struct pgsql_rows_answer_column *column, struct db_value *value,
                                 struct error *err)
{
    /* Both NULL and an empty text have an empty value. */
    char *bytes = PQgetvalue(result, 0, i);
    if (!*bytes && PQgetisnull(result, 0, i)) {
        value->type = DB_NULL;
        return 0;
    }
    return pgsql_rows_read_bytes(bytes, (size_t)PQgetlength(result, 0, i), column, value, err);
}

/* Returns the character that an escape sequence means; other escaped characters mean themselves. */
static char unescaped(char character)
{
    static const char escaped[] = "bfnrtv", meant[] = "\b\f\n\r\t\v";
    const char *found = character ? strchr(escaped, character) : NULL;
    return found ? meant[found - escaped] : character;
}

/*
 * Decodes the value at `at` in place, and ends it with NUL.  Sets *length and *is_null.  Returns
 * the start of the next value, or the end of the line.
 */
static char *pgsql_rows_take_value(char *at, size_t *length, bool *is_null)
{
    char *end = at, *to = at;
    *is_null = at[0] == '\\' && at[1] == 'N';
    while (*end && *end != '\t' && *end != '\n') {
        if (*end == '\\' && end[1])
            *to++ = unescaped(*++end);
        else
            *to++ = *end;
        end++;
    }
    *length = (size_t)(to - at);
    bool more = *end == '\t';
    *to = '\0';
    return end + more;
}

static int pgsql_rows_read_line(struct pgsql_rows *rows, struct error *err)
{
    char *at = rows->line;
    for (size_t i = 0; i < rows->count; i++) {
        size_t length;
        bool is_null;
        char *bytes = at;
        at = pgsql_rows_take_value(at, &length, &is_null);
        rows->values[i].type = DB_NULL;
        if (!is_null &&
            pgsql_rows_read_bytes(bytes, length, &rows->columns[i], &rows->values[i], err))
            return -1;
    }
    return 0;
}

int pgsql_fetch(struct db_rows *base, const struct db_value **row, struct error *err)
{
    struct pgsql_rows *rows = (struct pgsql_rows *)base;
    *row = rows->values;
    if (rows->copies && receive_line(rows))
        return pgsql_rows_read_line(rows, err) ? -1 : 1;
    if (!rows->unread && is_row(rows->result))
        receive(rows);
    rows->unread = false;
    if (!is_row(rows->result))
        return failed(rows) ? pgsql_fail((struct pgsql_session *)base->db, rows->result, err) : 0;
    for (size_t i = 0; i < rows->count; i++)
        if (pgsql_rows_read_value(rows->result, (int)i, &rows->columns[i], &rows->values[i], err))
            return -1;
    return 1;
}
