/* SPDX-License-Identifier: MIT */
#include "db/sqlite/sqlite_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/file.h"
#include "util/log.h"

/* Errors. */

/* What the system said last of the database's file, or of its log's. */
static int last_error(sqlite3 *sqlite, bool of_log)
{
    int number = 0;
    sqlite3_file *file = NULL;
    sqlite3_file_control(sqlite, "main",
                         of_log ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER, &file);
    if (file && file->pMethods)
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

/* The system's own number.  The one that SQLite hands out may have been overwritten since; its
 * files keep theirs. */
static int system_error_of(sqlite3 *sqlite)
{
    int number = sqlite3_system_errno(sqlite);
    bool writing = sqlite3_errcode(sqlite) == SQLITE_IOERR;
    for (int of_log = 0; writing && of_log < 2; of_log++)
        if (file_no_room(last_error(sqlite, of_log)))
            return last_error(sqlite, of_log);
    return number;
}

static enum error_class class_of(sqlite3 *sqlite)
{
    int system_error = system_error_of(sqlite);
    const char *message = sqlite3_errmsg(sqlite);

    switch (sqlite3_errcode(sqlite)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_SCHEMA:
        return ERROR_RETRY;
    case SQLITE_FULL:
        return ERROR_FULL;
    case SQLITE_IOERR:
        return file_no_room(system_error) ? ERROR_FULL : ERROR_GONE;
    case SQLITE_CANTOPEN:
        if (file_no_room(system_error))
            return ERROR_FULL;
        return system_error == EACCES ? ERROR_DENIED : ERROR_GONE;
    case SQLITE_INTERRUPT:
        return ERROR_GONE;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return ERROR_DENIED;
    case SQLITE_ERROR:
        /* SQLite has one code for all that is wrong with a statement. */
        if (strncmp(message, "no such table", 13) == 0 ||
            strncmp(message, "no such column", 14) == 0 || strstr(message, " has no column named "))
            return ERROR_MISSING;
        break;
    }
    return ERROR_OTHER;
}

int sqlite_fail(const struct sqlite_db *db, struct error *err)
{
    if (sqlite3_errcode(db->sqlite) == SQLITE_INTERRUPT)
        return fail(err, ERROR_GONE, "%s: a statement took longer than %u s", db->base.name,
                    db->deadline_s);
    if (sqlite_is_too_old(sqlite3_errmsg(db->sqlite)))
        return fail(
            err, ERROR_SETTINGS,
            "%s has STRICT tables, made with SQLite 3.37 or later; this is SQLite %s, which "
            "cannot read them",
            db->base.name, sqlite3_libversion());
    int number = sqlite3_errcode(db->sqlite) == SQLITE_IOERR ? system_error_of(db->sqlite) : 0;
    enum error_class class = class_of(db->sqlite);
    char where[1024];
    fail(err, class, "%s: %s%s%s%s", db->base.name, sqlite_name_temporary(db, where, sizeof where),
         sqlite3_errmsg(db->sqlite), number ? ": " : "", number ? strerror(number) : "");
    err->of_database = true;
    return -1;
}

/* Statements. */

void sqlite_start_clock(struct sqlite_db *db)
{
    sqlite_forget_temporary();
    db->until_ms = clock_milliseconds() + (int64_t)db->deadline_s * 1000;
}

int sqlite_is_overdue(void *context)
{
    return clock_milliseconds() >= ((const struct sqlite_db *)context)->until_ms;
}

int sqlite_run(struct db *base, const char *sql, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    sqlite_start_clock(db);
    char *fitting = sqlite_fit(sql);
    int result = sqlite3_exec(db->sqlite, fitting, NULL, NULL, NULL);
    free(fitting);
    return result == SQLITE_OK ? 0 : sqlite_fail(db, err);
}

int sqlite_bind(sqlite3_stmt *statement, int position, const struct db_value *value)
{
    char *digits;
    switch (value->type) {
    case DB_INTEGER:
        return sqlite3_bind_int64(statement, position, value->integer);
    case DB_UNSIGNED:
        /* SQLite's integers end at INT64_MAX; a column that goes beyond it holds texts. */
        digits = sqlite3_mprintf("%llu", (unsigned long long)value->unsigned_integer);
        return sqlite3_bind_text(statement, position, digits, -1, sqlite3_free);
    case DB_REAL:
        return sqlite3_bind_double(statement, position, value->real);
    case DB_TEXT:
        return sqlite3_bind_text64(statement, position, value->text.bytes, value->text.length,
                                   SQLITE_STATIC, SQLITE_UTF8);
    case DB_NULL:
        break;
    }
    return sqlite3_bind_null(statement, position);
}

int sqlite_compile(struct sqlite_db *db, const char *sql, sqlite3_stmt **statement,
                   struct error *err)
{
    char *fitting = sqlite_fit(sql);
    int result = sqlite3_prepare_v2(db->sqlite, fitting, -1, statement, NULL);
    free(fitting);
    return result == SQLITE_OK ? 0 : sqlite_fail(db, err);
}

int sqlite_prepare(struct sqlite_db *db, const char *sql, const struct db_value *arguments,
                   size_t argument_count, sqlite3_stmt **statement, struct error *err)
{
    sqlite_start_clock(db);
    if (sqlite_compile(db, sql, statement, err))
        return -1;
    if (db_check_arguments(&db->base, (size_t)sqlite3_bind_parameter_count(*statement),
                           argument_count, err)) {
        sqlite3_finalize(*statement);
        return -1;
    }
    for (size_t i = 0; i < argument_count; i++) {
        if (sqlite_bind(*statement, (int)i + 1, &arguments[i]) != SQLITE_OK) {
            sqlite_fail(db, err);
            sqlite3_finalize(*statement);
            return -1;
        }
    }
    return 0;
}

int sqlite_execute(struct db *base, const char *sql, const struct db_value *arguments,
                   size_t argument_count, int64_t *changed, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    sqlite3_stmt *statement;
    if (sqlite_prepare(db, sql, arguments, argument_count, &statement, err))
        return -1;
    int step;
    do {
        step = sqlite3_step(statement);
    } while (step == SQLITE_ROW);
    int status = step == SQLITE_DONE ? 0 : sqlite_fail(db, err);
    if (changed && status == 0)
        *changed = sqlite3_changes(db->sqlite);
    sqlite3_finalize(statement);
    return status;
}
