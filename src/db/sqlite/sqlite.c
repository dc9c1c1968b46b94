/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/sqlite/sqlite_session.h"
#include "util/error.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * The list of tables.  SQLite's pragma ignores the case of a table's name, so the session first
 * checks that a table has exactly this name.  sqlite_master cannot have an index, and for the
 * tables of a hundred clusters it would be read a thousand times.  So the session keeps a sorted
 * list of the names until the schema changes.
 */

static int sqlite_by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sqlite_forget_names(struct sqlite_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct sqlite_names){ 0 };
}

static int find_version(sqlite3 *sqlite, int64_t *version)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(sqlite, "PRAGMA schema_version", -1, &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        *version = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

static int read_names(sqlite3 *sqlite, struct sqlite_names *names)
{
    sqlite3_stmt *statement;
    int code =
        sqlite3_prepare_v2(sqlite, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')",
                           -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (!name) {
            code = SQLITE_NOMEM;
            break;
        }
        *memory_append(&names->names, &names->count) = memory_text(name);
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    if (names->count)
        qsort(names->names, names->count, sizeof *names->names, sqlite_by_bytes);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static void sqlite_has_table(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    struct sqlite_names *names = sqlite3_user_data(context);
    sqlite3 *sqlite = sqlite3_context_db_handle(context);
    const char *name = (const char *)sqlite3_value_text(arguments[0]);
    int64_t version = 0;
    (void)count;

    int code = find_version(sqlite, &version);
    if (code == SQLITE_OK && (!names->names || names->version != version)) {
        sqlite_forget_names(names);
        code = read_names(sqlite, names);
        names->version = version;
    }
    if (code != SQLITE_OK) {
        sqlite_forget_names(names);
        sqlite3_result_error(context, sqlite3_errmsg(sqlite), -1);
        sqlite3_result_error_code(context, code);
        return;
    }
    sqlite3_result_int(
        context, name && names->count &&
                     bsearch(&name, names->names, names->count, sizeof name, sqlite_by_bytes));
}

/* Defines SQLITE_HAS_TABLE.  `names` must outlive the session.  Returns SQLite's result code. */
static int sqlite_know_names(sqlite3 *sqlite, struct sqlite_names *names)
{
    return sqlite3_create_function(sqlite, SQLITE_HAS_TABLE, 1, SQLITE_UTF8, names,
                                   sqlite_has_table, NULL, NULL);
}

/*
 * The number of steps of SQLite's virtual machine between two checks of the time limit.  These
 * steps take about ten milliseconds.
 */
#define STEPS_PER_LOOK 1000000

/*
 * An advisory lock: a file next to the database, locked with flock().  The file is kept when the
 * lock is released, because a process that removed it could remove a file that another process has
 * just locked.
 */
struct lock_file {
    struct lock_file *next;
    char *name;
    int fd;
};

static void wait_for_locks(struct sqlite_db *db, unsigned seconds)
{
    sqlite3_busy_timeout(db->sqlite, (int)seconds * 1000);
}

static int sqlite_set_lock_wait(struct db *base, unsigned seconds, struct error *err)
{
    (void)err;
    wait_for_locks((struct sqlite_db *)base, seconds);
    return 0;
}

/*
 * Adds `<database>.<name>.lock`, with the path of the open database.  In the name, each character
 * other than a letter, digit, hyphen or underscore becomes %xx.
 */
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

/*
 * Any user who can open the lock file can hold the lock.  So only users who may write the database
 * get access to the file.  The file gets the database's owner, so that a run by root does not lock
 * other users out.  If another user could have created the file, for example as a hard link or a
 * device, leave it unchanged.
 */
static void share_lock(const struct sqlite_db *db, int fd)
{
    struct stat database, lock;
    if (stat(sqlite3_db_filename(db->sqlite, "main"), &database) || fstat(fd, &lock) ||
        !S_ISREG(lock.st_mode) || lock.st_nlink != 1 || (geteuid() && lock.st_uid != geteuid()))
        return;
    mode_t mode = 0600 | (database.st_mode & S_IWGRP ? 0060 : 0);
    if ((lock.st_uid != database.st_uid || lock.st_gid != database.st_gid) &&
        fchown(fd, database.st_uid, database.st_gid) && fchown(fd, (uid_t)-1, database.st_gid))
        mode = 0600;
    fchmod(fd, mode);
}

static int fail_opening_lock(const char *path, struct error *err)
{
    int reason = errno;
    struct stat status;
    struct text owner = { 0 };
    text_add(&owner, "");
    if (reason == EACCES && !stat(path, &status))
        text_format(&owner,
                    "; it belongs to user %ju; the next run by root gives it to the "
                    "owner of the database",
                    (uintmax_t)status.st_uid);
    enum error_class class = reason == EACCES || reason == EROFS ? ERROR_DENIED : ERROR_OTHER;
    fail(err, file_no_room(reason) ? ERROR_FULL : class, "cannot open lock file '%s': %s%s", path,
         strerror(reason), owner.bytes);
    text_free(&owner);
    return -1;
}

static int sqlite_lock(struct db *base, const char *name, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    struct text path = { 0 };
    int status = 0;

    lock_path(db, name, &path);
    int fd = open(path.bytes, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0)
        share_lock(db, fd);
    if (fd < 0) {
        status = fail_opening_lock(path.bytes, err);
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

static int refuse_missing(const struct db_settings *settings, enum db_role role, struct error *err)
{
    struct stat status;
    if (!db_given(settings->database))
        return fail(err, ERROR_SETTINGS, "the path of the SQLite database is not set");
    if (stat(settings->database, &status) == 0) {
        if (!S_ISREG(status.st_mode))
            return fail(err, ERROR_SETTINGS, "database '%s' is not a regular file",
                        settings->database);
        /* SQLite would open the file read-only, and would permanently give the log the mode of the
         * file. */
        if (db_role_writes(role) && access(settings->database, W_OK))
            return fail(err, ERROR_DENIED, "cannot write database '%s': %s", settings->database,
                        strerror(errno));
        return 0;
    }
    if (errno == ENOENT && role == DB_OWNER)
        return 0;
    /* A missing source may be a dump that is being replaced at this moment. */
    enum error_class missing = role == DB_SOURCE ? ERROR_GONE : ERROR_MISSING;
    return fail(err, errno == EACCES ? ERROR_DENIED : missing, "cannot open database '%s': %s",
                settings->database, strerror(errno));
}

static int connect(struct sqlite_db *db, struct error *err)
{
    const struct db_settings *settings = db->base.settings;
    int mode = SQLITE_OPEN_READONLY;
    if (db_role_writes(db->base.role))
        mode = SQLITE_OPEN_READWRITE | (db->base.role == DB_OWNER ? SQLITE_OPEN_CREATE : 0);
    /* Only one thread at a time uses a session.  NOMUTEX makes fetching a third faster, and
     * sqlite_rows_read_value() relies on it. */
    if (sqlite3_open_v2(settings->database, &db->sqlite, mode | SQLITE_OPEN_NOMUTEX,
                        sqlite_layer()) != SQLITE_OK ||
        sqlite_know_names(db->sqlite, &db->tables) != SQLITE_OK ||
        sqlite_know_take(db) != SQLITE_OK)
        return sqlite_fail(db, err);

    wait_for_locks(db, db_lock_wait(settings));
    if (db->deadline_s)
        sqlite3_progress_handler(db->sqlite, STEPS_PER_LOOK, sqlite_is_overdue, db);
    sqlite_refuse_unknown_names(db->sqlite);
    return 0;
}

/*
 * A scan of a table uses each page once.  With SQLite's default cache of 2 MB, each page is read
 * into memory that is no longer in the processor's cache, which costs a scan of jobs a fifteenth
 * of its time.  256 kB are enough for the inner pages of the indexes.
 */
#define SOURCE_CACHE "PRAGMA cache_size = -256"

/*
 * Other sessions query the results while a run publishes new ones, so the database must have a
 * write-ahead log.  Only the SQL that creates the tables enables the log, because opening a file
 * must not change a database that may belong to another program.
 */
static int require_wal(struct sqlite_db *db, struct error *err)
{
    const struct db_question question = { .sql = "PRAGMA journal_mode", .column_types = "t" };
    const struct db_value *row;
    struct db_rows *rows = sqlite_query(&db->base, &question, err);
    if (!rows)
        return -1;
    int got = sqlite_fetch(rows, &row, err);
    bool wal = got > 0 && row[0].text.length == 3 && !memcmp(row[0].text.bytes, "wal", 3);
    sqlite_finish(rows);
    if (got < 0 || wal)
        return got < 0 ? -1 : 0;
    return fail(err, ERROR_MISSING,
                "%s lacks a write-ahead log; run `fairmill init`, with the file on a local disk",
                db->base.name);
}

static int prepare_to_write(struct sqlite_db *db, struct error *err)
{
    /* Keep the log, truncated, after the last session ends, because users without write
     * permission in the directory cannot create the log. */
    int keep = 1;
    sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    if (sqlite_run(&db->base, "PRAGMA journal_size_limit = 0", err))
        return -1;

    /* With NORMAL, the database would survive a power failure, but the last commits could be lost.
     * Published results must not disappear, and one fsync per run costs almost nothing. */
    if (sqlite_run(&db->base, "PRAGMA synchronous = FULL", err))
        return -1;
    return db->base.role == DB_OWNER ? 0 : require_wal(db, err);
}

static int prepare_to_read(struct sqlite_db *db, struct error *err)
{
    if (sqlite_run(&db->base, "PRAGMA query_only = ON", err))
        return -1;
    return db->base.role == DB_SOURCE ? sqlite_run(&db->base, SOURCE_CACHE, err) : 0;
}

static void sqlite_rollback(struct db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    /* After some errors, such as a full disk, SQLite has already rolled the transaction back. */
    if (!sqlite3_get_autocommit(db->sqlite))
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

/*
 * sqlite3_close_v2() keeps the connection and its transaction open until all statements are
 * finalized, so roll back first.
 */
static void sqlite_close(struct db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    sqlite_rollback(base);
    sqlite3_close_v2(db->sqlite);
    sqlite_forget_names(&db->tables);
    while (db->locks)
        sqlite_unlock(base, db->locks->name);
    free(db->base.name);
    free(db);
}

/*
 * Reads the schema at once, so that a file that is not a database is reported here and not at the
 * first statement.
 */
static struct db *sqlite_open(const struct db_settings *settings, enum db_role role,
                              struct error *err)
{
    if (refuse_missing(settings, role, err))
        return NULL;

    struct sqlite_db *db = memory_zeroed(1, sizeof *db);
    db->base = db_session(settings, role);
    db->deadline_s = settings->deadline_s;
    if (connect(db, err) || sqlite_run(&db->base, "SELECT 1 FROM sqlite_master LIMIT 1", err) ||
        (db_role_writes(db->base.role) ? prepare_to_write(db, err) : prepare_to_read(db, err))) {
        sqlite_close(&db->base);
        return NULL;
    }
    return &db->base;
}

/*
 * SQLite continues to write to a file that was removed or replaced, but sessions that open the path
 * would never see the data.
 */
static int refuse_moved(struct sqlite_db *db, struct error *err)
{
    int moved = 0;
    sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (!moved)
        return 0;
    return fail(err, ERROR_GONE, "%s was removed or replaced", db->base.name);
}

static int sqlite_begin(struct db *base, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    if (db_role_writes(db->base.role))
        return refuse_moved(db, err) ? -1 : sqlite_run(&db->base, "BEGIN IMMEDIATE", err);
    if (sqlite_run(&db->base, "BEGIN", err))
        return -1;
    /* BEGIN does not take a snapshot; the first read does. */
    if (sqlite_run(&db->base, "SELECT 1 FROM sqlite_master LIMIT 1", err)) {
        sqlite_rollback(base);
        return -1;
    }
    return 0;
}

static int sqlite_commit(struct db *base, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    if (sqlite_run(&db->base, "COMMIT", err))
        return -1;
    if (db_role_writes(db->base.role))
        return refuse_moved(db, err);
    /* Cached pages of a snapshot are of little use to later reads, so free them. */
    sqlite3_db_release_memory(db->sqlite);
    return 0;
}

static const char *sqlite_tls_objection(const struct db_settings *settings)
{
    (void)settings;
    return "SQLite has no connections to encrypt; remove tls_mode";
}

static bool sqlite_enter_thread(void)
{
    return sqlite3_threadsafe() != 0;
}

static const struct db_functions sqlite_functions = {
    .open = sqlite_open,
    .close = sqlite_close,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .query = sqlite_query,
    .fetch = sqlite_fetch,
    .finish = sqlite_finish,
    .execute = sqlite_execute,
    .enter_thread = sqlite_enter_thread,
    .script = sqlite_run,
    .set_lock_wait = sqlite_set_lock_wait,
    .lock = sqlite_lock,
    .unlock = sqlite_unlock,
    .bulk_begin = sqlite_bulk_begin,
    .bulk_row = sqlite_bulk_row,
    .bulk_free = sqlite_bulk_free,
};

const struct db_driver sqlite_driver = {
    .name = "sqlite",
    .functions = &sqlite_functions,
    .scan_hint = "NOT INDEXED",
    .columns_query =
        "SELECT name FROM pragma_table_info(?1) WHERE " SQLITE_HAS_TABLE "(?1) ORDER BY cid",
    .identity_query = "SELECT file FROM pragma_database_list WHERE name = 'main'",
    .tls_objection = sqlite_tls_objection,
    .fit = sqlite_fit,
};
