/* SPDX-License-Identifier: MIT */
#include "db/sqlite/read_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/value.h"
#include "util/error.h"
#include "util/memory.h"

/* Handing over costs some microseconds, of which a row should not have to bear many
 * nanoseconds; and all batches should stay in the processor's caches. */
#define ROWS_A_BATCH 256
#define BYTES_A_BATCH 32768
#define BATCHES 4

struct read_ahead_batch {
    struct db_value *values;
    size_t rows;
    char *bytes; /* of texts */
    size_t used, room;
    int end; /* what the reader said behind its rows: 1, or what it ended with */
};

struct read_ahead {
    row_reader read;
    void *context;
    size_t columns;
    pthread_t thread;

    pthread_mutex_t mutex; /* for these, which count batches, or end the thread */
    pthread_cond_t changed;
    size_t filled, emptied;
    bool stopped;

    struct read_ahead_batch batches[BATCHES];
    /* The thread's own: a row that had no room in the last batch, and why reading failed, which is
     * ours once a batch has said so. */
    const struct db_value *row;
    struct error err;
    /* Ours: rows taken from the batch in hand. */
    bool in_hand;
    size_t taken;
};

/* The thread. */

static size_t text_bytes(const struct db_value *row, size_t columns)
{
    size_t bytes = 0;
    for (size_t i = 0; i < columns; i++)
        if (row[i].type == DB_TEXT)
            bytes += row[i].text.length;
    return bytes;
}

/* Only who asks for rows may end the program for lack of memory, who may be amid anything. */
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

/* Whether there was room for it; in an empty batch there is. */
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

/* NULL where nobody wants it any more. */
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

/* Who works on the rows. */

static struct read_ahead_batch *filled_batch(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->filled == ahead->emptied)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    pthread_mutex_unlock(&ahead->mutex);
    return &ahead->batches[ahead->emptied % BATCHES];
}

int read_ahead_next(struct read_ahead *ahead, const struct db_value **row, struct error *err)
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

/* Signals are for the thread that was there before. */
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

struct read_ahead *read_ahead_start(row_reader read, void *context, size_t columns)
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

void read_ahead_stop(struct read_ahead *ahead)
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
