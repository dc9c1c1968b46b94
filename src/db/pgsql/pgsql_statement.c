/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/pgsql/pgsql_session.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

#define STATE_LENGTH 5

/* SQLSTATEs or prefixes of them.  The first entry that matches is used. */
static const struct {
    const char *state;
    enum error_class class;
} classes[] = {
    { "08", ERROR_GONE },       /* connection */
    { "25P03", ERROR_GONE },    /* idle in a transaction too long */
    { "25P04", ERROR_GONE },    /* transaction_timeout */
    { "53000", ERROR_GONE },    /* out of resources */
    { "53200", ERROR_GONE },    /* server out of memory */
    { "53300", ERROR_GONE },    /* too many connections */
    { "57014", ERROR_GONE },    /* statement_timeout, or canceled by another session */
    { "57P", ERROR_GONE },      /* shutdown, crash, startup, or session terminated */
    { "HV00N", ERROR_GONE },    /* the remote server of a foreign table */
    { "40", ERROR_RETRY },      /* serialization failure, deadlock, conflict with recovery */
    { "55P03", ERROR_RETRY },   /* lock_timeout */
    { "28", ERROR_LOGIN },      /* login */
    { "42501", ERROR_DENIED },  /* privilege */
    { "3D000", ERROR_MISSING }, /* database */
    { "3F000", ERROR_MISSING }, /* schema */
    { "42P01", ERROR_MISSING }, /* table */
    { "42703", ERROR_MISSING }, /* column */
    { "53100", ERROR_FULL },    /* disk */
};

/*
 * The SQLSTATE of a write in a read-only transaction.  In a session that only reads, the write is
 * denied.  In a session that writes, the error means that the server has become a replica, which is
 * a temporary state.
 */
#define READ_ONLY_TRANSACTION "25006"

static enum error_class pgsql_statement_class_of(const struct pgsql_session *session,
                                                 const char *state)
{
    if (!strcmp(state, READ_ONLY_TRANSACTION))
        return db_role_writes(session->base.role) ? ERROR_GONE : ERROR_DENIED;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strncmp(classes[i].state, state, strlen(classes[i].state)))
            return classes[i].class;
    return ERROR_OTHER;
}

/* Returns the total length of the leading lines that begin with a tab. */
static size_t length_of_guess(const char *message)
{
    size_t length = 0;
    while (message[length] == '\t') {
        length += strcspn(message + length, "\n");
        length += message[length] == '\n';
    }
    return length;
}

static void pgsql_statement_add_guess(struct text *text, const char *guess, size_t length)
{
    for (const char *end = guess + length; guess < end;) {
        size_t line = strcspn(guess, "\n");
        text_add(text, " ");
        text_add_bytes(text, guess + 1, line - 1);
        guess += line + (guess[line] == '\n');
    }
}

/*
 * Adds libpq's message as one line.  The message has several lines.  Lines that begin with a tab
 * are libpq's guess at the reason; up to libpq 13, only these lines contain the address of the
 * server.  The line LOCATION is a place in the server's source code and is omitted.
 */
static void add_reasons(struct text *text, const char *message)
{
    size_t before = text->length;
    while (*message) {
        size_t guess = length_of_guess(message), length = strcspn(message, "\n");
        if (guess && memchr(message, '"', guess)) {
            text_add(text, ";");
            pgsql_statement_add_guess(text, message, guess);
        } else if (!guess && length && strncmp(message, "LOCATION:", 9) != 0) {
            text_add(text, text->length > before ? "; " : "");
            text_add_bytes(text, message, length);
        }
        message += guess ? guess : length + (message[length] != '\0');
    }
    if (text->length == before)
        text_add(text, "no reason given");
}

static int fail_with_reasons(const struct pgsql_session *session, enum error_class class,
                             const char *message, struct error *err)
{
    struct text reasons = { 0 };
    add_reasons(&reasons, message);
    fail(err, class, "%s: %s", session->base.name, reasons.bytes);
    err->of_database = true;
    text_free(&reasons);
    return -1;
}

int pgsql_fail(struct pgsql_session *session, const PGresult *result, struct error *err)
{
    if (session->hung)
        return fail(err, ERROR_GONE, "%s: the server does not respond", session->base.name);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state && message) {
        fail(err, pgsql_statement_class_of(session, state), "%s: %s (%s)", session->base.name,
             message, state);
        err->of_database = true;
        return -1;
    }
    /* Errors of the library itself come without SQLSTATE. */
    bool lost = PQstatus(session->connection) != CONNECTION_OK;
    return fail_with_reasons(session, lost ? ERROR_GONE : ERROR_OTHER,
                             PQerrorMessage(session->connection), err);
}

/*
 * Finds the SQLSTATE in the text of an error, `FATAL:  28000: ...`.  libpq offers no other way to
 * get it if a connection was rejected.  If libpq tried several addresses, the SQLSTATE of the last
 * address is used.
 */
static bool find_state(const char *message, char state[STATE_LENGTH + 1])
{
    bool found = false;
    while ((message = strstr(message, ":  "))) {
        size_t length = 0;
        message += 3;
        while (isdigit((unsigned char)message[length]) || isupper((unsigned char)message[length]))
            length++;
        if (length == STATE_LENGTH && message[length] == ':') {
            snprintf(state, STATE_LENGTH + 1, "%s", message);
            found = true;
        }
    }
    return found;
}

/* Returns true if one side rejected TLS, false if the network failed during the handshake. */
static bool tls_was_refused(const char *message)
{
    if (strstr(message, "eof") || strstr(message, "EOF"))
        return false;
    return strstr(message, "certificate") || strstr(message, "SSL was required") ||
           strstr(message, "SSL error:");
}

int pgsql_fail_connecting(struct pgsql_session *session, bool options_are_wrong, struct error *err)
{
    char state[STATE_LENGTH + 1];
    const char *message = PQerrorMessage(session->connection);
    enum error_class class = ERROR_GONE;
    if (find_state(message, state))
        class = pgsql_statement_class_of(session, state);
    else if (PQconnectionNeedsPassword(session->connection))
        class = ERROR_LOGIN;
    else if (options_are_wrong || tls_was_refused(message))
        class = ERROR_SETTINGS;
    return fail_with_reasons(session, class, message, err);
}

bool pgsql_wait(PGconn *connection, short events, int64_t until_ms)
{
    struct pollfd socket = { .fd = PQsocket(connection), .events = events };
    int ready;
    do {
        int64_t left_ms = until_ms - clock_milliseconds();
        if (left_ms <= 0)
            return false;
        ready = poll(&socket, 1, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX);
    } while (ready < 0 && errno == EINTR);
    return ready != 0;
}

static void start_waiting(struct pgsql_session *session)
{
    unsigned wait_s = db_answer_wait(session->base.settings);
    session->until_ms = wait_s ? clock_milliseconds() + (int64_t)wait_s * 1000 : INT64_MAX;
}

/*
 * Sends the remaining data and receives until a result is available.  Returns false on timeout.  If
 * the connection fails, the result contains the error.
 */
static bool await_result(struct pgsql_session *session)
{
    PGconn *connection = session->connection;
    for (;;) {
        int unsent = PQflush(connection);
        if (unsent < 0 || (!unsent && !PQisBusy(connection)))
            return true;
        if (!pgsql_wait(connection, unsent ? POLLIN | POLLOUT : POLLIN, session->until_ms))
            return false;
        if (!PQconsumeInput(connection))
            return true;
    }
}

PGresult *pgsql_next(struct pgsql_session *session)
{
    if (session->hung)
        return NULL;
    /* Most results have already arrived.  For such a result, do not read the clock. */
    if (PQisBusy(session->connection))
        session->hung = !await_result(session);
    return session->hung ? NULL : PQgetResult(session->connection);
}

char *pgsql_next_line(struct pgsql_session *session)
{
    char *line = NULL;
    while (!session->hung && !PQgetCopyData(session->connection, &line, true)) {
        session->hung = !pgsql_wait(session->connection, POLLIN, session->until_ms);
        if (!session->hung && !PQconsumeInput(session->connection))
            return NULL;
    }
    return line;
}

void pgsql_pass_over(struct pgsql_session *session)
{
    PGresult *result;
    while ((result = pgsql_next(session))) {
        /* A line of the COPY could not be received, so libpq would return this result forever. */
        session->hung |= PQresultStatus(result) == PGRES_COPY_OUT;
        PQclear(result);
    }
}

int pgsql_end(struct pgsql_session *session, int64_t *changed, struct error *err)
{
    int status = 0;
    PGresult *result;
    while ((result = pgsql_next(session))) {
        ExecStatusType got = PQresultStatus(result);
        if (got == PGRES_FATAL_ERROR || got == PGRES_BAD_RESPONSE)
            status = pgsql_fail(session, result, err);
        else if (changed &&
                 !number_signed(PQcmdTuples(result), strlen(PQcmdTuples(result)), changed))
            *changed = 0;
        PQclear(result);
    }
    return session->hung ? pgsql_fail(session, NULL, err) : status;
}

/*
 * Returns the length of the literal, quoted name or comment at the start of `sql`, or 0 if `sql`
 * begins with something else.
 */
static size_t quoted_length(const char *sql)
{
    const char *end;
    size_t ending = 1;
    if (*sql == '\'' || *sql == '"') {
        end = strchr(sql + 1, *sql);
    } else if (!strncmp(sql, "--", 2)) {
        end = strchr(sql, '\n');
    } else if (!strncmp(sql, "/*", 2)) {
        end = strstr(sql + 2, "*/");
        ending = 2;
    } else {
        return 0;
    }
    return end ? (size_t)(end - sql) + ending : strlen(sql);
}

/*
 * Replaces each `?` with $1, $2, ..., or with the next integer if `integers` is set.  Returns the
 * number of `?`.
 */
static size_t number_arguments(const char *sql, const struct db_value *integers,
                               struct text *numbered)
{
    size_t count = 0;
    text_add(numbered, "");
    while (*sql) {
        size_t length = quoted_length(sql);
        if (!length && *sql == '?') {
            if (integers)
                text_format(numbered, "CAST(%" PRId64 " AS bigint)", integers[count++].integer);
            else
                text_format(numbered, "$%zu", ++count);
            sql++;
            continue;
        }
        if (!length)
            length = 1 + strcspn(sql + 1, "?'\"-/");
        text_add_bytes(numbered, sql, length);
        sql += length;
    }
    return count;
}

/* Holds a number in its wire format. */
union number_room {
    uint64_t bits; /* in network byte order */
    char digits[24];
};

struct pgsql_parameters pgsql_parameters_create(size_t count)
{
    return (struct pgsql_parameters){
        .count = count,
        .types = memory_zeroed(count, sizeof(Oid)),
        .values = memory_zeroed(count, sizeof(char *)),
        .lengths = memory_zeroed(count, sizeof(int)),
        .formats = memory_zeroed(count, sizeof(int)),
    };
}

void pgsql_parameters_free(struct pgsql_parameters *parameters)
{
    free(parameters->types);
    free(parameters->values);
    free(parameters->lengths);
    free(parameters->formats);
}

static void set_number(struct pgsql_parameters *parameters, size_t i, Oid type, uint64_t bits,
                       union number_room *room)
{
    room->bits = htobe64(bits);
    parameters->types[i] = type;
    parameters->values[i] = (const char *)&room->bits;
    parameters->lengths[i] = sizeof bits;
    parameters->formats[i] = PGSQL_AS_BINARY;
}

static void set_parameter(struct pgsql_parameters *parameters, size_t i,
                          const struct db_value *argument, union number_room *room)
{
    uint64_t bits;
    switch (argument->type) {
    case DB_INTEGER:
        set_number(parameters, i, PGSQL_INT8, (uint64_t)argument->integer, room);
        break;
    case DB_UNSIGNED:
        snprintf(room->digits, sizeof room->digits, "%" PRIu64, argument->unsigned_integer);
        parameters->types[i] = PGSQL_NUMERIC;
        parameters->values[i] = room->digits;
        break;
    case DB_REAL:
        memcpy(&bits, &argument->real, sizeof bits);
        set_number(parameters, i, PGSQL_FLOAT8, bits, room);
        break;
    case DB_TEXT:
        /* Without a type, the parameter has the type of its context.  That is text or bytea, and
         * the wire format of these two types is the bytes themselves. */
        parameters->values[i] = argument->text.length ? argument->text.bytes : "";
        parameters->lengths[i] = (int)argument->text.length;
        parameters->formats[i] = PGSQL_AS_BINARY;
        break;
    case DB_NULL:
        break;
    }
}

int pgsql_send_parameters(struct pgsql_session *session, const char *sql,
                          const struct pgsql_parameters *parameters, struct error *err)
{
    start_waiting(session);
    if (session->hung ||
        !PQsendQueryParams(session->connection, sql, (int)parameters->count, parameters->types,
                           parameters->values, parameters->lengths, parameters->formats,
                           PGSQL_AS_TEXT))
        return pgsql_fail(session, NULL, err);
    return 0;
}

int pgsql_send(struct pgsql_session *session, const char *sql, const struct db_value *arguments,
               size_t argument_count, struct error *err)
{
    struct text numbered = { 0 };
    size_t wanted = number_arguments(sql, NULL, &numbered);
    int status = db_check_arguments(&session->base, wanted, argument_count, err);
    if (!status) {
        struct pgsql_parameters parameters = pgsql_parameters_create(argument_count);
        union number_room *rooms = memory_zeroed(argument_count, sizeof *rooms);
        for (size_t i = 0; i < argument_count; i++)
            set_parameter(&parameters, i, &arguments[i], &rooms[i]);
        status = pgsql_send_parameters(session, numbered.bytes, &parameters, err);
        free(rooms);
        pgsql_parameters_free(&parameters);
    }
    text_free(&numbered);
    return status;
}

int pgsql_send_describe(struct pgsql_session *session, const char *sql, size_t argument_count,
                        struct error *err)
{
    PGconn *connection = session->connection;
    struct text numbered = { 0 };
    size_t wanted = number_arguments(sql, NULL, &numbered);
    Oid *types = memory_zeroed(argument_count, sizeof *types);
    for (size_t i = 0; i < argument_count; i++)
        types[i] = PGSQL_INT8;
    start_waiting(session);
    int status = db_check_arguments(&session->base, wanted, argument_count, err);
    if (!status && (session->hung ||
                    !PQsendPrepare(connection, "", numbered.bytes, (int)argument_count, types)))
        status = pgsql_fail(session, NULL, err);
    else if (!status)
        status = pgsql_end(session, NULL, err);
    free(types);
    text_free(&numbered);
    if (!status && !PQsendDescribePrepared(connection, ""))
        status = pgsql_fail(session, NULL, err);
    return status;
}

int pgsql_send_copy(struct pgsql_session *session, const char *sql, const struct db_value *integers,
                    struct error *err)
{
    static const struct pgsql_parameters none;
    struct text copy = { 0 };
    text_add(&copy, "COPY (");
    number_arguments(sql, integers, &copy);
    text_add(&copy, "\n) TO STDOUT"); /* the newline ends a comment in `sql` */
    int status = pgsql_send_parameters(session, copy.bytes, &none, err);
    text_free(&copy);
    return status;
}

int pgsql_send_script(struct pgsql_session *session, const char *sql, struct error *err)
{
    start_waiting(session);
    if (session->hung || !PQsendQuery(session->connection, sql))
        return pgsql_fail(session, NULL, err);
    return 0;
}

int pgsql_run(struct pgsql_session *session, const char *sql, struct error *err)
{
    return pgsql_send_script(session, sql, err) ? -1 : pgsql_end(session, NULL, err);
}

int pgsql_execute(struct db *db, const char *sql, const struct db_value *arguments,
                  size_t argument_count, int64_t *changed, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    if (pgsql_send(session, sql, arguments, argument_count, err))
        return -1;
    return pgsql_end(session, changed, err);
}

/*
 * Returns the end of the first statement of a script, or NULL if that is the end of the script.  A
 * block, DO $$ ... $$, is one statement, although it contains others.
 */
static const char *pgsql_statement_end(const char *sql)
{
    const char *end = strstr(sql, ";\n"), *block = strstr(sql, "$$\n");
    if (!end || !block || end < block)
        return end;
    end = strstr(block, "\n$$;\n");
    return end ? end + strlen("\n$$") : NULL;
}

/*
 * Run the statements one by one.  Statements that are sent together are one transaction, and a
 * failure undoes all of them.  The other drivers do not undo earlier statements.
 */
int pgsql_script(struct db *db, const char *sql, struct error *err)
{
    struct pgsql_session *session = (struct pgsql_session *)db;
    struct text statement = { 0 };
    int status = 0;
    while (!status && *sql) {
        const char *end = pgsql_statement_end(sql);
        size_t length = end ? (size_t)(end - sql) : strlen(sql);
        statement.length = 0;
        text_add_bytes(&statement, sql, length);
        status = pgsql_run(session, statement.bytes, err);
        sql += length + (end ? 2 : 0);
    }
    text_free(&statement);
    return status;
}
