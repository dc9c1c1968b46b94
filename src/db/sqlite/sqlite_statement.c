/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/sqlite/sqlite_session.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"
#include "util/text.h"

/*
 * If a disk is full, SQLite's error does not show whether the disk contains the database or
 * SQLite's temporary files.  SQLite uses temporary files for sorts that would need too much memory.
 * Therefore SQLite opens files through this VFS, a copy of the default VFS that also records
 * failures of temporary files.
 */

/*
 * True if a temporary file could not be opened or written.  Each thread has its own flag, because
 * rows may be read in a separate thread, which reports its own errors.
 */
static _Thread_local bool failed;

static sqlite3_vfs layer;
static int (*open_file)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
static sqlite3_io_methods temporary; /* set once, under SQLite's mutex for applications */
static int (*write_file)(sqlite3_file *, const void *, int, sqlite3_int64);

static int write_temporary(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    int result = write_file(file, bytes, count, at);
    failed |= result != SQLITE_OK;
    return result;
}

/* Temporary files are opened without a name, and they all have the same methods. */
static int open_noting(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                       int *got_flags)
{
    int result = open_file(vfs, name, file, flags, got_flags);
    if (name)
        return result;
    failed |= result != SQLITE_OK;
    if (result != SQLITE_OK)
        return result;
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
    sqlite3_mutex_enter(mutex);
    if (!write_file) {
        temporary = *file->pMethods;
        write_file = temporary.xWrite;
        temporary.xWrite = write_temporary;
    }
    sqlite3_mutex_leave(mutex);
    file->pMethods = &temporary;
    return SQLITE_OK;
}

const char *sqlite_layer(void)
{
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    if (layer.zName || !usual)
        return layer.zName;
    layer = *usual;
    layer.zName = "fairmill";
    layer.pNext = NULL;
    open_file = layer.xOpen;
    layer.xOpen = open_noting;
    if (sqlite3_vfs_register(&layer, 0) != SQLITE_OK)
        layer.zName = NULL;
    return layer.zName;
}

/* Forgets failures of temporary files in this thread. */
static void sqlite_forget_temporary(void)
{
    failed = false;
}

/*
 * Returns the beginning of an error message if a temporary file failed, else "".  Asks SQLite for
 * the name of a new temporary file, because only this name shows the directory.
 */
static const char *sqlite_name_temporary(const struct sqlite_db *db, char *where, size_t room)
{
    char *name = NULL;
    if (!failed)
        return "";
    sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_TEMPFILENAME, &name);
    const char *slash = name ? strrchr(name, '/') : NULL;
    snprintf(where, room,
             "cannot write temporary files in '%.*s'; SQLITE_TMPDIR or TMPDIR sets the directory: ",
             slash ? (int)(slash - name) : 0, slash ? name : "");
    sqlite3_free(name);
    return where;
}

/*
 * The SQLite library at run time may be older or newer than the one at build time.  So ask the
 * running library for its release.
 */
#define KNOWS_STRICT_TABLES 3037000
/* From this release on, sqlite_refuse_unknown_names() has an effect. */
#define REFUSES_UNKNOWN_NAMES 3029000

#define STRICT "STRICT, "

/* Returns the end of the text, quoted name or comment that begins at `at`. */
static const char *end_of_token(const char *at)
{
    if (at[0] == '-')
        return at + strcspn(at, "\n");
    char quote = *at++;
    while (*at && (*at != quote || at[1] == quote))
        at += *at == quote ? 2 : 1;
    return *at ? at + 1 : at;
}

/*
 * Before release 3.29, SQLite treats a name in double quotes as a text if no column has that name.
 * A name in backticks is never treated as a text.
 */
static void sqlite_statement_add_name(struct text *text, const char *at, const char *end)
{
    text_add(text, "`");
    while (++at < end - 1) {
        if (*at == '"')
            at++;
        text_add_bytes(text, *at == '`' ? "``" : at, *at == '`' ? 2 : 1);
    }
    text_add(text, "`");
}

char *sqlite_fit(const char *sql)
{
    struct text text = { 0 };
    int release = sqlite3_libversion_number();
    const char *done = sql;
    text_add(&text, "");
    for (const char *at = sql; release < KNOWS_STRICT_TABLES && *at;) {
        bool is_token = *at == '\'' || *at == '"' || !strncmp(at, "--", 2);
        bool is_strict = !strncmp(at, STRICT, sizeof STRICT - 1);
        const char *end = is_token ? end_of_token(at) : is_strict ? at + sizeof STRICT - 1 : at + 1;
        bool is_name = *at == '"' && release < REFUSES_UNKNOWN_NAMES;
        if (is_name || is_strict) {
            text_add_bytes(&text, done, (size_t)(at - done));
            done = end;
        }
        if (is_name)
            sqlite_statement_add_name(&text, at, end);
        at = end;
    }
    text_add(&text, done);
    return text.bytes;
}

void sqlite_refuse_unknown_names(sqlite3 *sqlite)
{
/* Headers before 3.29 do not define these constants. */
#ifndef SQLITE_DBCONFIG_DQS_DML
#define SQLITE_DBCONFIG_DQS_DML 1013
#define SQLITE_DBCONFIG_DQS_DDL 1014
#endif
    if (sqlite3_libversion_number() < REFUSES_UNKNOWN_NAMES)
        return;
    sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
}

/*
 * Returns true if SQLite's message means that the file has STRICT tables and the running release
 * does not support them.
 */
static bool sqlite_is_too_old(const char *message)
{
    return sqlite3_libversion_number() < KNOWS_STRICT_TABLES &&
           strstr(message, "malformed database schema") && strstr(message, "\"STRICT\"");
}

/* Returns the last system error of the database file or of its log. */
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

/*
 * Returns the system's error number.  The number that SQLite returns may have been overwritten
 * since the failure, but SQLite also keeps the last error number of each file.
 */
static int system_error_of(sqlite3 *sqlite)
{
    int number = sqlite3_system_errno(sqlite);
    bool writing = sqlite3_errcode(sqlite) == SQLITE_IOERR;
    for (int of_log = 0; writing && of_log < 2; of_log++)
        if (file_no_room(last_error(sqlite, of_log)))
            return last_error(sqlite, of_log);
    return number;
}

static enum error_class sqlite_statement_class_of(sqlite3 *sqlite)
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
        /* SQLite uses one code for all errors in a statement. */
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
            "%s has STRICT tables, which require SQLite 3.37 or later; SQLite %s cannot read them",
            db->base.name, sqlite3_libversion());
    int number = sqlite3_errcode(db->sqlite) == SQLITE_IOERR ? system_error_of(db->sqlite) : 0;
    enum error_class class = sqlite_statement_class_of(db->sqlite);
    char where[1024];
    fail(err, class, "%s: %s%s%s%s", db->base.name, sqlite_name_temporary(db, where, sizeof where),
         sqlite3_errmsg(db->sqlite), number ? ": " : "", number ? strerror(number) : "");
    err->of_database = true;
    return -1;
}

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
        /* SQLite's integers end at INT64_MAX; a column with larger values holds texts. */
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
