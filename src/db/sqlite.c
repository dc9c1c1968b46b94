/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "db/driver.h"

#ifdef HAVE_SQLITE

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* How many steps of SQLite's machine (some ten milliseconds) lie between two looks at the clock. */
#define STEPS_PER_LOOK 1000000

/* An advisory lock: a file beside the database that flock() holds.  The file stays when the lock
 * goes: whoever removed it could remove one that a third process has just locked. */
struct lock_file {
    struct lock_file *next;
    char *name;
    int fd;
};

struct sqlite_db {
    struct db base;
    sqlite3 *sqlite;
    char *path;
    struct lock_file *locks;
    unsigned deadline_s;
    struct timespec statement_began;
};

struct sqlite_rows {
    struct db_rows base;
    sqlite3_stmt *statement;
    char *types;
    int count;
    struct db_value values[];
};

struct sqlite_bulk {
    struct db_bulk base;
    sqlite3_stmt *statement;
    const struct db_column *columns;
    size_t column_count;
};

static bool writes(const struct sqlite_db *db)
{
    return db->base.role == DB_RESULTS || db->base.role == DB_OWNER;
}

/* Errors. */

static bool no_room(int system_error)
{
    return system_error == ENOSPC || system_error == EFBIG || system_error == EDQUOT;
}

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

/* The system's own number.  What SQLite hands out may have been overwritten on the way; its files
 * remember. */
static int system_error_of(sqlite3 *sqlite)
{
    int number = sqlite3_system_errno(sqlite);
    bool writing = sqlite3_errcode(sqlite) == SQLITE_IOERR;
    for (int of_log = 0; writing && of_log < 2; of_log++)
        if (no_room(last_error(sqlite, of_log)))
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
        return no_room(system_error) ? ERROR_FULL : ERROR_GONE;
    case SQLITE_CANTOPEN:
        if (no_room(system_error))
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

static int fail_sqlite(const struct sqlite_db *db, struct error *err)
{
    if (sqlite3_errcode(db->sqlite) == SQLITE_INTERRUPT)
        return fail(err, ERROR_GONE, "database '%s': a statement took longer than %u s", db->path,
                    db->deadline_s);
    int number = sqlite3_errcode(db->sqlite) == SQLITE_IOERR ? system_error_of(db->sqlite) : 0;
    return fail(err, class_of(db->sqlite), "database '%s': %s%s%s", db->path,
                sqlite3_errmsg(db->sqlite), number ? ": " : "", number ? strerror(number) : "");
}

/* Statements. */

static void start_clock(struct sqlite_db *db)
{
    clock_gettime(CLOCK_MONOTONIC, &db->statement_began);
}

/* SQLite's progress handler: true interrupts the statement. */
static int is_overdue(void *context)
{
    const struct sqlite_db *db = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - db->statement_began.tv_sec > (time_t)db->deadline_s;
}

static int run(struct sqlite_db *db, const char *sql, struct error *err)
{
    start_clock(db);
    if (sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        return fail_sqlite(db, err);
    return 0;
}

/* Texts are bound where they lie: they must stay until the statement is reset or over. */
static int bind(sqlite3_stmt *statement, int position, const struct db_value *value)
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

static int prepare(struct sqlite_db *db, const char *sql, const struct db_value *arguments,
                   size_t argument_count, sqlite3_stmt **statement, struct error *err)
{
    start_clock(db);
    if (sqlite3_prepare_v2(db->sqlite, sql, -1, statement, NULL) != SQLITE_OK)
        return fail_sqlite(db, err);
    if ((size_t)sqlite3_bind_parameter_count(*statement) != argument_count) {
        sqlite3_finalize(*statement);
        return fail(err, ERROR_OTHER, "a statement was given %zu arguments: %s", argument_count,
                    sql);
    }
    for (size_t i = 0; i < argument_count; i++) {
        if (bind(*statement, (int)i + 1, &arguments[i]) != SQLITE_OK) {
            fail_sqlite(db, err);
            sqlite3_finalize(*statement);
            return -1;
        }
    }
    return 0;
}

/* Sessions. */

static int refuse_missing(const struct db_settings *settings, enum db_role role, struct error *err)
{
    struct stat status;
    if (!db_given(settings->database))
        return fail(err, ERROR_SETTINGS, "the path of the SQLite database is not set");
    if (stat(settings->database, &status) == 0) {
        if (!S_ISREG(status.st_mode))
            return fail(err, ERROR_SETTINGS, "database '%s' is not a file", settings->database);
        /* SQLite would open it read-only, and give its log the same mode for good. */
        if ((role == DB_RESULTS || role == DB_OWNER) && access(settings->database, W_OK))
            return fail(err, ERROR_DENIED, "cannot write database '%s': %s", settings->database,
                        strerror(errno));
        return 0;
    }
    if (errno == ENOENT && role == DB_OWNER)
        return 0;
    /* A source that is not there may be a dump that is just being renewed. */
    enum error_class missing = role == DB_SOURCE ? ERROR_GONE : ERROR_MISSING;
    return fail(err, errno == EACCES ? ERROR_DENIED : missing, "cannot open database '%s': %s",
                settings->database, strerror(errno));
}

static int connect(struct sqlite_db *db, const struct db_settings *settings, struct error *err)
{
    int mode = SQLITE_OPEN_READONLY;
    if (writes(db))
        mode = SQLITE_OPEN_READWRITE | (db->base.role == DB_OWNER ? SQLITE_OPEN_CREATE : 0);
    /* One thread uses a session.  read_value() relies on NOMUTEX, and fetching is a third faster.
     */
    if (sqlite3_open_v2(settings->database, &db->sqlite, mode | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return fail_sqlite(db, err);

    sqlite3_busy_timeout(db->sqlite, (int)db_lock_wait(settings) * 1000);
    if (db->deadline_s)
        sqlite3_progress_handler(db->sqlite, STEPS_PER_LOOK, is_overdue, db);
    /* Without these an unknown column in double quotes is taken for a text. */
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    return 0;
}

/* Results are published under readers, so their database keeps a write-ahead log.  Only the SQL
 * that makes the tables turns it on: opening a file must not change what may turn out to be
 * somebody else's. */
static int require_wal(struct sqlite_db *db, struct error *err)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db->sqlite, "PRAGMA journal_mode", -1, &statement, NULL))
        return fail_sqlite(db, err);
    int step = sqlite3_step(statement);
    const char *mode = step == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool wal = mode && strcmp(mode, "wal") == 0;
    int status = 0;
    if (step != SQLITE_ROW)
        status = fail_sqlite(db, err);
    else if (!wal)
        status = fail(err, ERROR_MISSING,
                      "database '%s' keeps no write-ahead log: `fairmill init` makes one, if the "
                      "file is on a local disk",
                      db->path);
    sqlite3_finalize(statement);
    return status;
}

static int prepare_to_write(struct sqlite_db *db, struct error *err)
{
    /* The log outlives the last session, emptied, so that readers without write permission in the
     * directory, who could not make one, find it. */
    int keep = 1;
    sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    if (run(db, "PRAGMA journal_size_limit = 0", err))
        return -1;

    /* NORMAL would keep the database whole after a power cut, too, but may lose the last commits.
     * What somebody saw published must not go again, and one fsync a run costs nothing. */
    if (run(db, "PRAGMA synchronous = FULL", err))
        return -1;
    return db->base.role == DB_OWNER ? 0 : require_wal(db, err);
}

static void sqlite_close(struct db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    sqlite3_close_v2(db->sqlite);
    while (db->locks)
        sqlite_driver.unlock(base, db->locks->name);
    free(db->path);
    free(db);
}

/* The schema is not read before the first statement; whether the file is a database at all is
 * better known now. */
static int sqlite_open(struct db **opened, const struct db_settings *settings, enum db_role role,
                       struct error *err)
{
    if (refuse_missing(settings, role, err))
        return -1;

    struct sqlite_db *db = memory_zeroed(1, sizeof *db);
    db->base = (struct db){ .driver = &sqlite_driver, .role = role };
    db->deadline_s = settings->deadline_s;
    db->path = memory_text(settings->database);
    if (connect(db, settings, err) || run(db, "SELECT 1 FROM sqlite_master LIMIT 1", err) ||
        (writes(db) ? prepare_to_write(db, err) : run(db, "PRAGMA query_only = ON", err))) {
        sqlite_close(&db->base);
        return -1;
    }
    *opened = &db->base;
    return 0;
}

/* Transactions. */

/* A file that was removed or replaced takes all that is written to it, and nobody will see it. */
static int refuse_moved(struct sqlite_db *db, struct error *err)
{
    int moved = 0;
    sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (!moved)
        return 0;
    return fail(err, ERROR_GONE, "database '%s' was removed or replaced", db->path);
}

static int sqlite_begin(struct db *base, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    if (writes(db))
        return refuse_moved(db, err) ? -1 : run(db, "BEGIN IMMEDIATE", err);
    if (run(db, "BEGIN", err))
        return -1;
    /* BEGIN alone takes no snapshot; the first read does. */
    if (run(db, "SELECT 1 FROM sqlite_master LIMIT 1", err)) {
        sqlite_driver.rollback(base);
        return -1;
    }
    return 0;
}

static int sqlite_commit(struct db *base, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    if (run(db, "COMMIT", err))
        return -1;
    return writes(db) ? refuse_moved(db, err) : 0;
}

static void sqlite_rollback(struct db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    /* After some errors, a full disk for one, SQLite has rolled back already. */
    if (!sqlite3_get_autocommit(db->sqlite))
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

/* Queries. */

static int sqlite_query(struct db *base, const char *sql, const struct db_value *arguments,
                        size_t argument_count, const char *column_types, struct db_rows **opened,
                        struct error *err)
{
    sqlite3_stmt *statement;
    if (prepare((struct sqlite_db *)base, sql, arguments, argument_count, &statement, err))
        return -1;
    size_t count = (size_t)sqlite3_column_count(statement);
    if (count != strlen(column_types)) {
        sqlite3_finalize(statement);
        return fail(err, ERROR_OTHER, "a query answers with %zu columns: %s", count, sql);
    }

    struct sqlite_rows *rows = memory_zeroed(1, sizeof *rows + count * sizeof *rows->values);
    rows->base.db = base;
    rows->statement = statement;
    rows->types = memory_text(column_types);
    rows->count = (int)count;
    *opened = &rows->base;
    return 0;
}

/* Whether a value is of a type, as it is. */
static bool fits(const struct db_value *value, char type)
{
    switch (value->type) {
    case DB_INTEGER:
    case DB_UNSIGNED:
        return type == 'i';
    case DB_REAL:
        return type == 'r';
    case DB_TEXT:
        return type == 't';
    case DB_NULL:
        break;
    }
    return true;
}

/* Values are taken from a sqlite3_value, which without mutexes may be read like any other, since
 * that asks SQLite for the column once and not once for each of type, value and length. */
static int read_value(sqlite3_stmt *statement, int column, char type, struct db_value *value,
                      struct error *err)
{
    sqlite3_value *stored = sqlite3_column_value(statement, column);
    switch (sqlite3_value_type(stored)) {
    case SQLITE_INTEGER:
        value->type = DB_INTEGER;
        value->integer = sqlite3_value_int64(stored);
        if (type == 't')
            *value = db_text((const char *)sqlite3_value_text(stored));
        break;
    case SQLITE_FLOAT:
        *value = db_real(sqlite3_value_double(stored));
        break;
    case SQLITE_NULL:
        value->type = DB_NULL;
        break;
    default: {
        const char *bytes = sqlite3_value_blob(stored);
        *value = db_bytes(bytes ? bytes : "", (size_t)sqlite3_value_bytes(stored));
    }
    }
    if (fits(value, type))
        return 0;
    return db_value_fit(value, type, sqlite3_column_name(statement, column), err);
}

static int sqlite_fetch(struct db_rows *base, const struct db_value **row, struct error *err)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    switch (sqlite3_step(rows->statement)) {
    case SQLITE_ROW:
        break;
    case SQLITE_DONE:
        return 0;
    default:
        return fail_sqlite((struct sqlite_db *)base->db, err);
    }
    for (int i = 0; i < rows->count; i++)
        if (read_value(rows->statement, i, rows->types[i], &rows->values[i], err))
            return -1;
    *row = rows->values;
    return 1;
}

static void sqlite_finish(struct db_rows *base)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    sqlite3_finalize(rows->statement);
    free(rows->types);
    free(rows);
}

static int sqlite_execute(struct db *base, const char *sql, const struct db_value *arguments,
                          size_t argument_count, int64_t *changed, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    sqlite3_stmt *statement;
    if (prepare(db, sql, arguments, argument_count, &statement, err))
        return -1;
    int step;
    do {
        step = sqlite3_step(statement);
    } while (step == SQLITE_ROW);
    int status = step == SQLITE_DONE ? 0 : fail_sqlite(db, err);
    if (changed && status == 0)
        *changed = sqlite3_changes(db->sqlite);
    sqlite3_finalize(statement);
    return status;
}

static int sqlite_script(struct db *base, const char *sql, struct error *err)
{
    return run((struct sqlite_db *)base, sql, err);
}

/* Locks. */

/* `<database>.<name>.lock`, whatever the way by which this process came to the database. */
static void lock_path(const struct sqlite_db *db, const char *name, struct text *path)
{
    text_add(path, sqlite3_db_filename(db->sqlite, "main"));
    text_add(path, ".");
    for (; *name; name++) {
        unsigned char byte = (unsigned char)*name;
        text_format(path, isalnum(byte) || byte == '-' || byte == '_' ? "%c" : "%%%02x", byte);
    }
    text_add(path, ".lock");
}

static int sqlite_lock(struct db *base, const char *name, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    struct text path = { 0 };
    int status = 0;

    lock_path(db, name, &path);
    int fd = open(path.bytes, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) {
        enum error_class class = errno == EACCES || errno == EROFS ? ERROR_DENIED : ERROR_OTHER;
        status = fail(err, no_room(errno) ? ERROR_FULL : class, "cannot open lock file '%s': %s",
                      path.bytes, strerror(errno));
    } else if (flock(fd, LOCK_EX | LOCK_NB)) {
        status =
            fail(err, errno == EWOULDBLOCK ? ERROR_LOCKED : ERROR_OTHER, "cannot lock '%s': %s",
                 path.bytes, errno == EWOULDBLOCK ? "another run holds it" : strerror(errno));
        close(fd);
    } else {
        struct lock_file *lock = memory_zeroed(1, sizeof *lock);
        *lock = (struct lock_file){ .next = db->locks, .name = memory_text(name), .fd = fd };
        db->locks = lock;
    }
    text_free(&path);
    return status;
}

static void sqlite_unlock(struct db *base, const char *name)
{
    struct lock_file **link = &((struct sqlite_db *)base)->locks;
    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    struct lock_file *lock = *link;
    if (!lock)
        return;
    *link = lock->next;
    close(lock->fd);
    free(lock->name);
    free(lock);
}

/* Bulk writes: inside one transaction, row by row is as fast as SQLite gets. */

static int sqlite_bulk_begin(struct db *base, const char *table, const struct db_column *columns,
                             size_t column_count, size_t key_count, struct db_bulk **opened,
                             struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    struct text sql = { 0 };
    db_add_insert(&sql, table, columns, column_count, 1);
    db_add_on_conflict(&sql, columns, column_count, key_count);

    sqlite3_stmt *statement;
    int prepared = sqlite3_prepare_v2(db->sqlite, sql.bytes, -1, &statement, NULL);
    text_free(&sql);
    if (prepared != SQLITE_OK)
        return fail_sqlite(db, err);

    struct sqlite_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    bulk->base.db = base;
    bulk->statement = statement;
    bulk->columns = columns;
    bulk->column_count = column_count;
    *opened = &bulk->base;
    return 0;
}

static int sqlite_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    struct sqlite_db *db = (struct sqlite_db *)base->db;
    start_clock(db);
    for (size_t i = 0; i < bulk->column_count; i++) {
        if (!fits(&row[i], bulk->columns[i].type))
            return db_value_misfit(&bulk->columns[i], err);
        if (bind(bulk->statement, (int)i + 1, &row[i]) != SQLITE_OK)
            return fail_sqlite(db, err);
    }
    if (sqlite3_step(bulk->statement) != SQLITE_DONE) {
        fail_sqlite(db, err);
        sqlite3_reset(bulk->statement);
        return -1;
    }
    sqlite3_reset(bulk->statement);
    return 0;
}

static void sqlite_bulk_abandon(struct db_bulk *base)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    sqlite3_finalize(bulk->statement);
    free(bulk);
}

static int sqlite_bulk_end(struct db_bulk *base, struct error *err)
{
    (void)err;
    sqlite_bulk_abandon(base);
    return 0;
}

/* TLS. */

static const char *sqlite_tls_objection(const struct db_settings *settings)
{
    (void)settings;
    return "a file has no TLS";
}

const struct db_driver sqlite_driver = {
    .name = "sqlite",
    .scan_hint = "NOT INDEXED",
    .columns_query = "SELECT name FROM pragma_table_info(?) ORDER BY cid",
    .identity_query = "SELECT file FROM pragma_database_list WHERE name = 'main'",
    .tls_objection = sqlite_tls_objection,
    .open = sqlite_open,
    .close = sqlite_close,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .query = sqlite_query,
    .fetch = sqlite_fetch,
    .finish = sqlite_finish,
    .execute = sqlite_execute,
    .script = sqlite_script,
    .lock = sqlite_lock,
    .unlock = sqlite_unlock,
    .bulk_begin = sqlite_bulk_begin,
    .bulk_row = sqlite_bulk_row,
    .bulk_end = sqlite_bulk_end,
    .bulk_abandon = sqlite_bulk_abandon,
};

#endif
