/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "db/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/driver.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

const struct db_driver *const db_drivers[] = {
#ifdef HAVE_MYSQL
    &mysql_driver,
#endif
#ifdef HAVE_PGSQL
    &pgsql_driver,
#endif
#ifdef HAVE_SQLITE
    &sqlite_driver,
#endif
    NULL,
};

const struct db_driver *db_driver_named(const char *name)
{
    for (const struct db_driver *const *driver = db_drivers; *driver; driver++)
        if (strcmp((*driver)->name, name) == 0)
            return *driver;
    return NULL;
}

const char *const db_tls_names[] = {
    "default", "off", "required", "verify_ca", "verify_full", NULL
};

const char *db_tls_objection(const struct db_settings *settings)
{
    bool verifies = settings->tls_mode >= DB_TLS_VERIFY_CA;
    if (verifies && !db_given(settings->tls_ca))
        return "needs tls_ca, the file of the authority whose certificates are good";
    if (!verifies && db_given(settings->tls_ca))
        return "checks no certificate, so that tls_ca would not count";
    if (settings->tls_mode == DB_TLS_DEFAULT)
        return NULL;
    return db_driver_named(settings->driver)->tls_objection(settings);
}

char *db_login_file(const struct db_settings *settings)
{
    const struct db_driver *driver = db_driver_named(settings->driver);
    return driver && driver->login_file ? driver->login_file(settings) : NULL;
}

static int refuse_writable(const struct db_settings *settings, struct error *err)
{
    char *path = db_login_file(settings);
    struct stat status;
    int result = 0;
    if (path && !stat(path, &status) && (status.st_mode & (S_IWGRP | S_IWOTH)))
        result = fail(err, ERROR_SETTINGS,
                      "'%s' may be written by others than its owner: chmod go-w it", path);
    free(path);
    return result;
}

int db_open(struct db **db, const struct db_settings *settings, enum db_role role,
            struct error *err)
{
    const struct db_driver *driver = db_driver_named(settings->driver);
    if (!driver)
        return fail(err, ERROR_SETTINGS, "this build has no database driver '%s'",
                    settings->driver);
    if (refuse_writable(settings, err))
        return -1;
    if (driver->open(db, settings, role, err))
        return -1;
    (*db)->settings = settings;
    (*db)->lock_wait_s = db_lock_wait(settings);
    return 0;
}

char *db_identity(struct db *db, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, db->driver->identity_query, NULL, 0, "t", err);
    if (!rows)
        return NULL;
    int got = db_fetch(rows, &row, err);
    struct text identity = { 0 };
    text_format(&identity, "%s:", db->driver->name);
    if (got > 0 && row[0].type == DB_TEXT)
        text_add_bytes(&identity, row[0].text.bytes, row[0].text.length);
    db_finish(rows);
    if (got < 0)
        text_free(&identity);
    return identity.bytes;
}

int db_check_table_name(const struct db *db, const char *name, struct error *err)
{
    const struct db_driver *driver = db->driver;
    if (driver->name_bytes && strlen(name) > driver->name_bytes)
        return fail(err, ERROR_DATA,
                    "there can be no table '%s': %s has names of %zu bytes at most", name,
                    driver->name, driver->name_bytes);
    if (driver->name_characters && utf8_length(name) > driver->name_characters)
        return fail(err, ERROR_DATA,
                    "there can be no table '%s': %s has names of %zu characters at most", name,
                    driver->name, driver->name_characters);
    for (const char *at = name; driver->name_is_basic && *at; at++)
        if ((unsigned char)*at >= 0xf0)
            return fail(err, ERROR_DATA,
                        "there can be no table '%s': %s has no characters beyond U+FFFF in names",
                        name, driver->name);
    return 0;
}

void db_add_grant(struct text *text, const struct db_settings *settings, const char *privileges,
                  const char *const *columns, const char *table)
{
    const struct db_driver *driver = db_driver_named(settings->driver);
    if (driver && driver->privileges)
        driver->privileges->add_grant(text, settings, privileges, columns, table);
}

void db_add_role_grant(struct text *text, const struct db_settings *settings, const char *role)
{
    const struct db_driver *driver = db_driver_named(settings->driver);
    if (driver && driver->privileges)
        driver->privileges->add_role_grant(text, settings, role);
}

void db_close(struct db *db)
{
    if (db)
        db->driver->close(db);
}

int db_begin(struct db *db, struct error *err)
{
    return db->driver->begin(db, err);
}

int db_commit(struct db *db, struct error *err)
{
    return db->driver->commit(db, err);
}

void db_rollback(struct db *db)
{
    if (db)
        db->driver->rollback(db);
}

/* Some databases could do more while they answer or take rows; what works with one must work with
 * all. */
static int refuse_while_busy(const struct db *db, struct error *err)
{
    if (db->answering)
        return fail(err, ERROR_OTHER, "the database session is still answering a query");
    if (db->writing)
        return fail(err, ERROR_OTHER, "the database session is still amid a bulk write");
    return 0;
}

struct db_rows *db_query(struct db *db, const char *sql, const struct db_value *arguments,
                         size_t argument_count, const char *column_types, struct error *err)
{
    if (refuse_while_busy(db, err))
        return NULL;
    struct db_rows *rows = db->driver->query(db, sql, arguments, argument_count, column_types, err);
    db->answering = rows != NULL;
    return rows;
}

struct db_rows *db_stream(struct db *db, const char *sql, const struct db_value *arguments,
                          size_t argument_count, const char *column_types, struct error *err)
{
    if (!db->driver->stream)
        return db_query(db, sql, arguments, argument_count, column_types, err);
    if (refuse_while_busy(db, err))
        return NULL;
    struct db_rows *rows =
        db->driver->stream(db, sql, arguments, argument_count, column_types, err);
    db->answering = rows != NULL;
    return rows;
}

int db_fetch(struct db_rows *rows, const struct db_value **row, struct error *err)
{
    if (!rows || rows->failed)
        return -1;
    int got = rows->db->driver->fetch(rows, row, err);
    rows->failed = got < 0;
    return got;
}

int db_finish(struct db_rows *rows)
{
    if (!rows)
        return -1;
    bool failed = rows->failed;
    rows->db->answering = false;
    rows->db->driver->finish(rows);
    return failed ? -1 : 0;
}

int db_execute(struct db *db, const char *sql, const struct db_value *arguments,
               size_t argument_count, int64_t *changed, struct error *err)
{
    if (refuse_while_busy(db, err))
        return -1;
    return db->driver->execute(db, sql, arguments, argument_count, changed, err);
}

int db_script(struct db *db, const char *sql, struct error *err)
{
    if (refuse_while_busy(db, err))
        return -1;
    return db->driver->script(db, sql, err);
}

int db_limit_waits(struct db *db, int64_t end_ms, struct error *err)
{
    int64_t left_s = (end_ms - clock_milliseconds() + 999) / 1000;
    unsigned usual_s = db_lock_wait(db->settings);
    unsigned wait_s = left_s >= usual_s ? usual_s : left_s > 1 ? (unsigned)left_s : 1;
    if (wait_s == db->lock_wait_s)
        return 0;
    if (refuse_while_busy(db, err) || db->driver->set_lock_wait(db, wait_s, err))
        return -1;
    db->lock_wait_s = wait_s;
    return 0;
}

int db_lock(struct db *db, const char *name, struct error *err)
{
    if (refuse_while_busy(db, err))
        return -1;
    return db->driver->lock(db, name, err);
}

void db_unlock(struct db *db, const char *name)
{
    if (db)
        db->driver->unlock(db, name);
}

int db_replica_lag(struct db *db, int64_t *lag_s, struct error *err)
{
    *lag_s = 0;
    if (!db->driver->replica_lag)
        return 0;
    return refuse_while_busy(db, err) ? -1 : db->driver->replica_lag(db, lag_s, err);
}

struct db_bulk *db_bulk_begin(struct db *db, const char *table, const struct db_column *columns,
                              size_t column_count, size_t key_count, struct error *err)
{
    if (refuse_while_busy(db, err))
        return NULL;
    struct db_bulk *bulk = db->driver->bulk_begin(db, table, columns, column_count, key_count, err);
    db->writing = bulk != NULL;
    return bulk;
}

int db_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err)
{
    if (!bulk || bulk->failed)
        return -1;
    bulk->failed = bulk->db->driver->bulk_row(bulk, row, err);
    return bulk->failed ? -1 : 0;
}

int db_bulk_end(struct db_bulk *bulk, struct error *err)
{
    if (!bulk || bulk->failed) {
        db_bulk_abandon(bulk);
        return -1;
    }
    bulk->db->writing = false;
    return bulk->db->driver->bulk_end(bulk, err);
}

void db_bulk_abandon(struct db_bulk *bulk)
{
    if (!bulk)
        return;
    bulk->db->writing = false;
    bulk->db->driver->bulk_abandon(bulk);
}

struct db_value db_null(void)
{
    return (struct db_value){ .type = DB_NULL };
}

struct db_value db_integer(int64_t integer)
{
    return (struct db_value){ .type = DB_INTEGER, .integer = integer };
}

struct db_value db_unsigned(uint64_t integer)
{
    if (integer <= INT64_MAX)
        return db_integer((int64_t)integer);
    return (struct db_value){ .type = DB_UNSIGNED, .unsigned_integer = integer };
}

struct db_value db_real(double real)
{
    return (struct db_value){ .type = DB_REAL, .real = real };
}

struct db_value db_text(const char *text)
{
    return text ? db_bytes(text, strlen(text)) : db_null();
}

struct db_value db_bytes(const char *bytes, size_t length)
{
    return (struct db_value){ .type = DB_TEXT, .text = { .bytes = bytes, .length = length } };
}

char *db_value_text(const struct db_value *value)
{
    return value->type == DB_TEXT ? memory_bytes(value->text.bytes, value->text.length)
                                  : memory_text("");
}

double db_value_real(const struct db_value *value)
{
    return value->type == DB_REAL ? value->real : NAN;
}

int64_t db_value_integer(const struct db_value *value, int64_t otherwise)
{
    return value->type == DB_INTEGER ? value->integer : otherwise;
}

#define LOCK_WAIT_S 5u
#define CONNECT_WAIT_S 10u
#define ANSWER_GRACE_S 5u
#define RESULTS_IDLE_S 60u

static unsigned shorter(unsigned seconds, unsigned deadline_s)
{
    return deadline_s && deadline_s < seconds ? deadline_s : seconds;
}

unsigned db_connect_wait(const struct db_settings *settings)
{
    return shorter(CONNECT_WAIT_S, settings->deadline_s);
}

unsigned db_answer_wait(const struct db_settings *settings)
{
    unsigned deadline_s = settings->deadline_s;
    return deadline_s ? deadline_s + shorter(ANSWER_GRACE_S, deadline_s) : 0;
}

unsigned db_results_idle(const struct db_settings *settings)
{
    return RESULTS_IDLE_S + 2 * settings->deadline_s;
}

unsigned db_lock_wait(const struct db_settings *settings)
{
    unsigned deadline_s = settings->deadline_s;
    if (!deadline_s || deadline_s > LOCK_WAIT_S)
        return LOCK_WAIT_S;
    /* Shorter than the statement itself, so that the database says what was waited for. */
    return deadline_s > 1 ? deadline_s - 1 : 1;
}

bool db_given(const char *text)
{
    return text && *text;
}

bool db_is_here(const struct db_settings *settings)
{
    const char *host = db_given(settings->host) ? settings->host : "localhost";
    return *host == '/' || !strcmp(host, "localhost") || !strcmp(host, "127.0.0.1") ||
           !strcmp(host, "::1");
}

bool db_logs_in_by_socket(const struct db_settings *settings)
{
    bool by_socket =
        !db_given(settings->host) || !strcmp(settings->host, "localhost") || *settings->host == '/';
    return by_socket && !db_given(settings->option_file) && !db_given(settings->service);
}

void db_add_literal(struct text *text, const char *value)
{
    text_add(text, "'");
    for (; *value; value++)
        text_add_bytes(text, *value == '\'' ? "''" : value, *value == '\'' ? 2 : 1);
    text_add(text, "'");
}

static bool become_integer(struct db_value *value)
{
    uint64_t large;
    switch (value->type) {
    case DB_UNSIGNED:
        if (value->unsigned_integer <= INT64_MAX)
            *value = db_integer((int64_t)value->unsigned_integer);
        return true;
    case DB_REAL:
        /* The bounds are powers of two, so doubles hold them exactly. */
        if (!(value->real >= -0x1p63 && value->real < 0x1p63) || value->real != trunc(value->real))
            return false;
        *value = db_integer((int64_t)value->real);
        return true;
    case DB_TEXT:
        if (number_unsigned(value->text.bytes, value->text.length, &large)) {
            *value = (struct db_value){ .type = DB_UNSIGNED, .unsigned_integer = large };
            return become_integer(value);
        }
        value->type = DB_INTEGER;
        return number_signed(value->text.bytes, value->text.length, &value->integer);
    default:
        return value->type == DB_INTEGER;
    }
}

static bool become_real(struct db_value *value)
{
    char digits[128];
    switch (value->type) {
    case DB_INTEGER:
        *value = db_real((double)value->integer);
        return true;
    case DB_UNSIGNED:
        *value = db_real((double)value->unsigned_integer);
        return true;
    case DB_TEXT:
        if (value->text.length >= sizeof digits)
            return false;
        memcpy(digits, value->text.bytes, value->text.length);
        digits[value->text.length] = '\0';
        value->type = DB_REAL;
        return strlen(digits) == value->text.length && number_real(digits, &value->real);
    default:
        return value->type == DB_REAL;
    }
}

int db_value_fit(struct db_value *value, char type, const char *column, struct error *err)
{
    if (value->type == DB_NULL)
        return 0;
    if (type == 'i' && !become_integer(value))
        return fail(err, ERROR_DATA, "column '%s' holds a value that is not an integer", column);
    if (type == 'r' && !become_real(value))
        return fail(err, ERROR_DATA, "column '%s' holds a value that is not a number", column);
    if (type == 't' && value->type != DB_TEXT)
        return fail(err, ERROR_DATA, "column '%s' holds a value that is not a text", column);
    return 0;
}

int db_value_misfit(const struct db_column *column, struct error *err)
{
    return fail(err, ERROR_OTHER, "a value to write in column '%s' is not of its type '%c'",
                column->name, column->type);
}

void db_add_columns(struct text *sql, const struct db_column *columns, size_t column_count)
{
    for (size_t i = 0; i < column_count; i++) {
        text_add(sql, i ? ", " : "");
        text_add_identifier(sql, columns[i].name);
    }
}

void db_add_on_conflict(struct text *sql, const struct db_column *columns, size_t column_count,
                        size_t key_count)
{
    if (!key_count)
        return;
    text_add(sql, " ON CONFLICT (");
    db_add_columns(sql, columns, key_count);
    text_add(sql, key_count < column_count ? ") DO UPDATE SET " : ") DO NOTHING");
    for (size_t i = key_count; i < column_count; i++) {
        text_add(sql, i > key_count ? ", " : "");
        text_add_identifier(sql, columns[i].name);
        text_add(sql, " = excluded.");
        text_add_identifier(sql, columns[i].name);
    }
}

void db_add_insert(struct text *sql, const char *table, const struct db_column *columns,
                   size_t column_count, size_t row_count)
{
    text_add(sql, "INSERT INTO ");
    text_add_identifier(sql, table);
    text_add(sql, " (");
    db_add_columns(sql, columns, column_count);
    text_add(sql, ") VALUES ");
    for (size_t row = 0; row < row_count; row++) {
        text_add(sql, row ? ", (?" : "(?");
        for (size_t i = 1; i < column_count; i++)
            text_add(sql, ", ?");
        text_add(sql, ")");
    }
}
