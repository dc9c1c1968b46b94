/* SPDX-License-Identifier: MIT */
#include "db/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "db/module.h"
#include "db/started.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
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

const char *db_tls_objection(const struct db_settings *settings)
{
    bool verifies = settings->tls_mode >= DB_TLS_VERIFY_CA;
    if (verifies && !db_given(settings->tls_ca))
        return "requires tls_ca, a file with the CA that signed the server's certificate";
    if (!verifies && db_given(settings->tls_ca))
        return "does not check certificates, so tls_ca has no effect; use verify_ca or "
               "verify_full, or remove tls_ca";
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
                      "'%s' is writable by other users; run `chmod go-w` on it", path);
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
    const struct db_functions *functions =
        driver->functions ? driver->functions : module_functions(driver->name, err);
    if (!functions || refuse_writable(settings, err))
        return -1;
    *db = functions->open(settings, role, err);
    if (!*db && err->class == ERROR_LOGIN) {
        struct error reason = *err;
        return fail(err, ERROR_LOGIN, "%.1900s; the server rejected this login or its password",
                    reason.message);
    }
    if (!*db)
        return -1;
    (*db)->driver = driver;
    (*db)->functions = functions;
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
        text_add_as_utf8(&identity, row[0].text.bytes, row[0].text.length);
    db_finish(rows);
    if (got < 0)
        text_free(&identity);
    return identity.bytes;
}

char *db_login(struct db *db)
{
    const struct db_value *row;
    struct error ignored;
    if (!db->driver->login_query)
        return NULL;
    struct db_rows *rows = db_query(db, db->driver->login_query, NULL, 0, "t", &ignored);
    char *login = NULL;
    if (db_fetch(rows, &row, &ignored) > 0 && row[0].type == DB_TEXT)
        login = memory_bytes(row[0].text.bytes, row[0].text.length);
    db_finish(rows);
    return login;
}

int db_add_doubts(struct db *db, struct text *text, struct error *err)
{
    if (!db->driver->doubt_query)
        return 0;
    const struct db_value *row;
    struct db_rows *rows = db_query(db, db->driver->doubt_query, NULL, 0, "tt", err);
    while (db_fetch(rows, &row, err) > 0) {
        text_add(text, text->length ? ", " : "");
        text_add_bytes(text, row[0].text.bytes, row[0].text.length);
        text_add(text, " = ");
        text_add_bytes(text, row[1].text.bytes, row[1].text.length);
    }
    return db_finish(rows);
}

int db_be_owner(struct db *db, struct error *err)
{
    if (!db->driver->owner_query)
        return 0;
    const struct db_value *row;
    struct db_rows *rows = db_query(db, db->driver->owner_query, NULL, 0, "t", err);
    int got = db_fetch(rows, &row, err);
    if (got > 0)
        fail(err, ERROR_DENIED,
             "%s: permission denied; the tables belong to '%.*s', whose role this login lacks",
             db->name, (int)row[0].text.length, row[0].text.bytes);
    db_finish(rows);
    return got ? -1 : 0;
}

int db_has_table(struct db *db, const char *name, struct error *err)
{
    const struct db_value *row, argument = db_text(name);
    struct db_rows *rows = db_query(db, db->driver->columns_query, &argument, 1, "t", err);
    bool found = db_fetch(rows, &row, err) > 0;
    return db_finish(rows) ? -1 : found;
}

int db_check_table_name(const struct db *db, const char *name, struct error *err)
{
    const struct db_driver *driver = db->driver;
    if (driver->name_bytes && strlen(name) > driver->name_bytes)
        return fail(err, ERROR_DATA, "invalid table name '%s': names in %s have at most %zu bytes",
                    name, driver->name, driver->name_bytes);
    if (driver->name_characters && utf8_length(name) > driver->name_characters)
        return fail(err, ERROR_DATA,
                    "invalid table name '%s': names in %s have at most %zu characters", name,
                    driver->name, driver->name_characters);
    for (const char *at = name; driver->name_is_basic && *at; at++)
        if ((unsigned char)*at >= 0xf0)
            return fail(
                err, ERROR_DATA,
                "invalid table name '%s': names in %s cannot contain characters above U+FFFF", name,
                driver->name);
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
    if (!db)
        return;
    /* If the program ends because memory runs out, a query may still be open. */
    db_finish(db->rows);
    db_started_abandon(db);
    db->functions->close(db);
}

int db_begin(struct db *db, struct error *err)
{
    return db_started_finish(db, err) ? -1 : db->functions->begin(db, err);
}

int db_commit(struct db *db, struct error *err)
{
    return db_started_finish(db, err) ? -1 : db->functions->commit(db, err);
}

void db_rollback(struct db *db)
{
    if (!db)
        return;
    db_started_abandon(db);
    db->functions->rollback(db);
}

/*
 * Some database systems could run a statement during a query or a bulk write.  Reject such a
 * statement for all systems, so that code that works with one of them works with every other.
 */
static int refuse_while_busy(struct db *db, struct error *err)
{
    if (db_started_finish(db, err))
        return -1;
    if (db->rows)
        return fail(err, ERROR_OTHER, "the database session still has an open query");
    if (db->writing)
        return fail(err, ERROR_OTHER, "the database session still has an open bulk write");
    return 0;
}

static struct db_rows *db_ask(struct db *db, const struct db_question *question, struct error *err)
{
    if (refuse_while_busy(db, err))
        return NULL;
    return db->rows = db->functions->query(db, question, err);
}

struct db_rows *db_query(struct db *db, const char *sql, const struct db_value *arguments,
                         size_t argument_count, const char *column_types, struct error *err)
{
    return db_ask(db, &(struct db_question){ sql, arguments, argument_count, column_types, false },
                  err);
}

struct db_rows *db_stream(struct db *db, const char *sql, const struct db_value *arguments,
                          size_t argument_count, const char *column_types, struct error *err)
{
    return db_ask(db, &(struct db_question){ sql, arguments, argument_count, column_types, true },
                  err);
}

int db_fetch(struct db_rows *rows, const struct db_value **row, struct error *err)
{
    if (!rows || rows->failed)
        return -1;
    int got = rows->db->functions->fetch(rows, row, err);
    rows->failed = got < 0;
    return got;
}

int db_finish(struct db_rows *rows)
{
    if (!rows)
        return -1;
    bool failed = rows->failed;
    rows->db->rows = NULL;
    rows->db->functions->finish(rows);
    return failed ? -1 : 0;
}

int db_execute(struct db *db, const char *sql, const struct db_value *arguments,
               size_t argument_count, int64_t *changed, struct error *err)
{
    if (refuse_while_busy(db, err))
        return -1;
    return db->functions->execute(db, sql, arguments, argument_count, changed, err);
}

int db_start(struct db *db, const char *sql, const struct db_value *arguments,
             size_t argument_count, struct error *err)
{
    if (refuse_while_busy(db, err))
        return -1;
    db_started_begin(db, sql, arguments, argument_count);
    return 0;
}

int db_script(struct db *db, const char *sql, struct error *err)
{
    if (refuse_while_busy(db, err))
        return -1;
    return db->functions->script(db, sql, err);
}

int db_limit_waits(struct db *db, int64_t end_ms, struct error *err)
{
    int64_t left_s = (end_ms - clock_milliseconds() + 999) / 1000;
    unsigned usual_s = db_lock_wait(db->settings);
    unsigned wait_s = left_s >= usual_s ? usual_s : left_s > 1 ? (unsigned)left_s : 1;
    if (wait_s == db->lock_wait_s)
        return 0;
    if (refuse_while_busy(db, err) || db->functions->set_lock_wait(db, wait_s, err))
        return -1;
    db->lock_wait_s = wait_s;
    return 0;
}

int db_name_lock(struct db *db, const char *what, char name[DB_LOCK_NAME], struct error *err)
{
    char *identity = db_identity(db, err);
    if (!identity)
        return -1;
    struct text key = { 0 };
    text_add_bytes(&key, identity, strlen(identity) + 1);
    text_add(&key, what);
    snprintf(name, DB_LOCK_NAME, "fairmill:%016llx",
             (unsigned long long)XXH3_64bits(key.bytes, key.length));
    text_free(&key);
    free(identity);
    return 0;
}

int db_lock(struct db *db, const char *name, struct error *err)
{
    if (refuse_while_busy(db, err))
        return -1;
    return db->functions->lock(db, name, err);
}

void db_unlock(struct db *db, const char *name)
{
    if (!db)
        return;
    db_started_abandon(db);
    db->functions->unlock(db, name);
}

int db_replica_lag(struct db *db, int64_t *lag_s, struct error *err)
{
    *lag_s = 0;
    if (!db->functions->replica_lag)
        return 0;
    return refuse_while_busy(db, err) ? -1 : db->functions->replica_lag(db, lag_s, err);
}

struct db_bulk *db_bulk_begin(struct db *db, const char *table, const struct db_column *columns,
                              size_t column_count, size_t key_count, struct error *err)
{
    if (refuse_while_busy(db, err))
        return NULL;
    const struct db_bulk target = { db, table, columns, column_count, key_count, false };
    struct db_bulk *bulk = db->functions->bulk_begin(&target, err);
    db->writing = bulk != NULL;
    // cppcheck-suppress returnDanglingLifetime ; the driver has copied the target
    return bulk;
}

int db_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err)
{
    if (!bulk || bulk->failed)
        return -1;
    for (size_t i = 0; i < bulk->column_count && !bulk->failed; i++)
        if (!db_value_is(&row[i], bulk->columns[i].type))
            bulk->failed = db_value_misfit(&bulk->columns[i], err);
    bulk->failed = bulk->failed || bulk->db->functions->bulk_row(bulk, row, err);
    return bulk->failed ? -1 : 0;
}

int db_bulk_end(struct db_bulk *bulk, struct error *err)
{
    int status = bulk && !bulk->failed ? 0 : -1;
    if (!status && bulk->db->functions->bulk_send)
        status = bulk->db->functions->bulk_send(bulk, err);
    db_bulk_abandon(bulk);
    return status;
}

void db_bulk_abandon(struct db_bulk *bulk)
{
    if (!bulk)
        return;
    bulk->db->writing = false;
    bulk->db->functions->bulk_free(bulk);
}
