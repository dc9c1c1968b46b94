/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/sqlite/sqlite_session.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * For a long result, a thread fetches rows while the caller works on earlier rows, because SQLite
 * has no server process that could do so.  The thread fills the batches of a ring in turn, and the
 * caller empties them.  The faster of the two waits for the slower one.
 */

/*
 * A function that works as a driver's fetch() does.  Returns 1 if it sets *row to the next row, 0
 * after the last row, or -1 on error.  The row is valid until the next call.
 */
typedef int (*row_reader)(void *context, const struct db_value **row, struct error *err);

/*
 * Handing over a batch takes a few microseconds, so a batch must have many rows.  All batches
 * together should fit in the processor's caches.
 */
#define ROWS_A_BATCH 256
#define BYTES_A_BATCH 32768
#define BATCHES 4

struct read_ahead_batch {
    struct db_value *values;
    size_t rows;
    char *bytes; /* the bytes of texts */
    size_t used, room;
    int end; /* last result of `read`: 1 if more rows follow, else 0 or -1 */
};

struct read_ahead {
    row_reader read;
    void *context;
    size_t columns;
    pthread_t thread;

    pthread_mutex_t mutex; /* protects the counts of filled and emptied batches, and `stopped` */
    pthread_cond_t changed;
    size_t filled, emptied;
    bool stopped;

    struct read_ahead_batch batches[BATCHES];
    /* For the thread only: a row that did not fit in the last batch, and the error of `read`.  The
     * consumer may read `err` after it has received a batch that ends with -1. */
    const struct db_value *row;
    struct error err;
    /* For the consumer only: whether it has a batch, and the number of rows that it has taken from
     * that batch. */
    bool in_hand;
    size_t taken;
};

/* The following functions run in the thread that reads ahead. */

static size_t text_bytes(const struct db_value *row, size_t columns)
{
    size_t bytes = 0;
    for (size_t i = 0; i < columns; i++)
        if (row[i].type == DB_TEXT)
            bytes += row[i].text.length;
    return bytes;
}

/*
 * Uses realloc() and returns an error if memory runs out.  This thread must not end the program,
 * because the consumer may be in the middle of any operation.
 */
static bool read_ahead_make_room(struct read_ahead_batch *batch, size_t bytes, struct error *err)
{
    char *larger = realloc(batch->bytes, bytes);
    batch->end = larger ? 1 : fail(err, ERROR_OTHER, "out of memory");
    if (!larger)
        return false;
    batch->bytes = larger;
    batch->room = bytes;
    return true;
}

/*
 * Returns false if the batch has no room for the row.  An empty batch grows, so for an empty batch
 * the function returns false only if memory runs out.
 */
static bool read_ahead_add_row(struct read_ahead_batch *batch, const struct db_value *row,
                               size_t columns, struct error *err)
{
    size_t bytes = text_bytes(row, columns);
    if (bytes > batch->room - batch->used &&
        (batch->rows || !read_ahead_make_room(batch, bytes, err)))
        return false;
    struct db_value *values = batch->values + batch->rows++ * columns;
    for (size_t i = 0; i < columns; i++) {
        values[i] = row[i];
        if (row[i].type != DB_TEXT)
            continue;
        values[i].text.bytes = batch->bytes + batch->used;
        memcpy(batch->bytes + batch->used, row[i].text.bytes, row[i].text.length);
        batch->used += row[i].text.length;
    }
    return true;
}

static void read_ahead_fill(struct read_ahead *ahead, struct read_ahead_batch *batch)
{
    batch->rows = batch->used = 0;
    batch->end = 1;
    while (batch->rows < ROWS_A_BATCH) {
        if (!ahead->row)
            batch->end = ahead->read(ahead->context, &ahead->row, &ahead->err);
        if (batch->end != 1 || !read_ahead_add_row(batch, ahead->row, ahead->columns, &ahead->err))
            return;
        ahead->row = NULL;
    }
}

/* Returns NULL if the consumer has stopped reading. */
static struct read_ahead_batch *read_ahead_empty_batch(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->stopped && ahead->filled - ahead->emptied == BATCHES)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    struct read_ahead_batch *batch =
        ahead->stopped ? NULL : &ahead->batches[ahead->filled % BATCHES];
    pthread_mutex_unlock(&ahead->mutex);
    return batch;
}

static void read_ahead_step(struct read_ahead *ahead, size_t *count)
{
    pthread_mutex_lock(&ahead->mutex);
    ++*count;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
}

static void *read_ahead_read_rows(void *context)
{
    struct read_ahead *ahead = context;
    struct read_ahead_batch *batch;
    int end = 1;
    while (end == 1 && (batch = read_ahead_empty_batch(ahead))) {
        read_ahead_fill(ahead, batch);
        end = batch->end;
        read_ahead_step(ahead, &ahead->filled);
    }
    return NULL;
}

/* The following functions run in the consumer's thread. */

static struct read_ahead_batch *filled_batch(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->filled == ahead->emptied)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    pthread_mutex_unlock(&ahead->mutex);
    return &ahead->batches[ahead->emptied % BATCHES];
}

/*
 * Returns the rows of `read` in order, and then the end or the error of `read`, with the same
 * return values.
 */
static int read_ahead_next(struct read_ahead *ahead, const struct db_value **row, struct error *err)
{
    struct read_ahead_batch *batch = &ahead->batches[ahead->emptied % BATCHES];
    while (!ahead->in_hand || ahead->taken == batch->rows) {
        if (ahead->in_hand && batch->end != 1) {
            if (batch->end < 0)
                *err = ahead->err;
            return batch->end;
        }
        if (ahead->in_hand)
            read_ahead_step(ahead, &ahead->emptied);
        batch = filled_batch(ahead);
        ahead->in_hand = true;
        ahead->taken = 0;
    }
    *row = batch->values + ahead->taken++ * ahead->columns;
    return 1;
}

static void destroy(struct read_ahead *ahead)
{
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    for (size_t i = 0; i < BATCHES; i++) {
        free(ahead->batches[i].values);
        free(ahead->batches[i].bytes);
    }
    free(ahead);
}

/* Blocks all signals in the new thread, so that the consumer's thread handles them. */
static bool start_thread(struct read_ahead *ahead)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return false;
    bool started = !pthread_create(&ahead->thread, NULL, read_ahead_read_rows, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/*
 * Starts the thread.  Until read_ahead_stop() returns, only the thread may call `read` and use
 * `context`.  Returns NULL, and changes nothing, if there is only one processor or the thread
 * cannot be started.
 */
static struct read_ahead *read_ahead_start(row_reader read, void *context, size_t columns)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return NULL;
    struct read_ahead *ahead = memory_zeroed(1, sizeof *ahead);
    ahead->read = read;
    ahead->context = context;
    ahead->columns = columns;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    for (size_t i = 0; i < BATCHES; i++) {
        ahead->batches[i].values =
            memory_resized(NULL, ROWS_A_BATCH * columns, sizeof *ahead->batches[i].values);
        ahead->batches[i].bytes = memory_resized(NULL, BYTES_A_BATCH, 1);
        ahead->batches[i].room = BYTES_A_BATCH;
    }
    if (start_thread(ahead))
        return ahead;
    destroy(ahead);
    return NULL;
}

/*
 * Waits until the current call of `read` returns, and frees `ahead`.  The caller may interrupt that
 * call first.  Accepts NULL.
 */
static void read_ahead_stop(struct read_ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->stopped = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    destroy(ahead);
}

/*
 * After this many rows of a result, a second thread reads the remaining rows ahead, if SQLite is
 * threadsafe.  Only that thread may use the session until the query is finished.
 */
#define ROWS_WITHOUT_THREAD 4096

struct sqlite_rows {
    struct db_rows base;
    sqlite3_stmt *statement;
    size_t fetched; /* rows fetched without the thread */
    struct read_ahead *ahead;
    char *types;
    int count;
    struct db_value values[];
};

struct db_rows *sqlite_query(struct db *base, const struct db_question *question, struct error *err)
{
    sqlite3_stmt *statement;
    if (sqlite_prepare((struct sqlite_db *)base, question->sql, question->arguments,
                       question->argument_count, &statement, err))
        return NULL;
    size_t count = (size_t)sqlite3_column_count(statement);
    if (db_check_columns(base, count, question->column_types, err)) {
        sqlite3_finalize(statement);
        return NULL;
    }

    struct sqlite_rows *rows = memory_zeroed(1, sizeof *rows + count * sizeof *rows->values);
    rows->base.db = base;
    rows->statement = statement;
    rows->types = memory_text(question->column_types);
    rows->count = (int)count;
    return &rows->base;
}

/*
 * Gets the column as a sqlite3_value, so that SQLite looks the column up once, and not separately
 * for type, value and length.  SQLite calls such a value unprotected; reading it is safe because
 * the session uses no mutex.
 */
static int sqlite_rows_read_value(sqlite3_stmt *statement, int column, char type,
                                  struct db_value *value, struct error *err)
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
    if (db_value_is(value, type))
        return 0;
    return db_value_fit(value, type, sqlite3_column_name(statement, column), err);
}

static int sqlite_rows_read_row(void *context, const struct db_value **row, struct error *err)
{
    struct sqlite_rows *rows = context;
    switch (sqlite3_step(rows->statement)) {
    case SQLITE_ROW:
        break;
    case SQLITE_DONE:
        return 0;
    default:
        return sqlite_fail((struct sqlite_db *)rows->base.db, err);
    }
    for (int i = 0; i < rows->count; i++)
        if (sqlite_rows_read_value(rows->statement, i, rows->types[i], &rows->values[i], err))
            return -1;
    *row = rows->values;
    return 1;
}

int sqlite_fetch(struct db_rows *base, const struct db_value **row, struct error *err)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    if (!rows->ahead && rows->fetched++ == ROWS_WITHOUT_THREAD && sqlite3_threadsafe())
        rows->ahead = read_ahead_start(sqlite_rows_read_row, rows, (size_t)rows->count);
    return rows->ahead ? read_ahead_next(rows->ahead, row, err)
                       : sqlite_rows_read_row(rows, row, err);
}

void sqlite_finish(struct db_rows *base)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;
    /* Interrupt the read of the next row, which may take long.  After the last row, an interrupt
     * has no effect. */
    if (rows->ahead)
        sqlite3_interrupt(((struct sqlite_db *)base->db)->sqlite);
    read_ahead_stop(rows->ahead);
    sqlite3_finalize(rows->statement);
    free(rows->types);
    free(rows);
}

/* Bulk writes.  Within a transaction, SQLite is fastest when rows are inserted one by one. */

struct sqlite_bulk {
    struct db_bulk base;
    sqlite3_stmt *statement;
};

struct db_bulk *sqlite_bulk_begin(const struct db_bulk *target, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)target->db;
    struct sqlite_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    bulk->base = *target;
    struct text sql = { 0 };
    db_add_insert(&sql, &bulk->base);
    db_add_values(&sql, &bulk->base, 1);
    db_add_on_conflict(&sql, &bulk->base);
    int prepared = sqlite_compile(db, sql.bytes, &bulk->statement, err);
    text_free(&sql);
    if (!prepared)
        return &bulk->base;
    sqlite_bulk_free(&bulk->base);
    return NULL;
}

int sqlite_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    struct sqlite_db *db = (struct sqlite_db *)base->db;
    sqlite_start_clock(db);
    for (size_t i = 0; i < base->column_count; i++)
        if (sqlite_bind(bulk->statement, (int)i + 1, &row[i]) != SQLITE_OK)
            return sqlite_fail(db, err);
    if (sqlite3_step(bulk->statement) != SQLITE_DONE) {
        sqlite_fail(db, err);
        sqlite3_reset(bulk->statement);
        return -1;
    }
    sqlite3_reset(bulk->statement);
    return 0;
}

void sqlite_bulk_free(struct db_bulk *base)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    sqlite3_finalize(bulk->statement);
    free(bulk);
}
