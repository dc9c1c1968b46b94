/* SPDX-License-Identifier: MIT */
#include "db/sqlite/read_ahead.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/started.h"
#include "util/error.h"
#include "util/memory.h"

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
    int end; /* 1 if more batches follow, else the result of the reader */
};

struct read_ahead {
    read_ahead_reader read;
    void *context;
    size_t columns;
    size_t *texts, text_count; /* the columns of texts */
    pthread_t thread;

    pthread_mutex_t mutex; /* protects the counts of filled and emptied batches, and `stopped` */
    pthread_cond_t changed;
    size_t filled, emptied;
    bool stopped;

    struct read_ahead_batch batches[BATCHES];
    /* For the thread only: the batch that it fills, or NULL if the consumer has stopped, and the
     * error of the reader.  The consumer may read `err` after it has received a batch that ends
     * with -1. */
    struct read_ahead_batch *batch;
    struct error err;
    /* For the consumer only: whether it has a batch, and the number of rows that it has taken from
     * that batch. */
    bool in_hand;
    size_t taken;
};

static void read_ahead_step(struct read_ahead *ahead, size_t *count)
{
    pthread_mutex_lock(&ahead->mutex);
    ++*count;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
}

/* The following functions run in the thread that reads ahead. */

/* Begins the next batch, or sets `batch` to NULL if the consumer has stopped. */
static void read_ahead_begin_batch(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->stopped && ahead->filled - ahead->emptied == BATCHES)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    ahead->batch = ahead->stopped ? NULL : &ahead->batches[ahead->filled % BATCHES];
    pthread_mutex_unlock(&ahead->mutex);
    if (ahead->batch)
        ahead->batch->rows = ahead->batch->used = 0;
}

static void read_ahead_end_batch(struct read_ahead *ahead, int end)
{
    ahead->batch->end = end;
    read_ahead_step(ahead, &ahead->filled);
}

struct db_value *read_ahead_row(struct read_ahead *ahead)
{
    if (ahead->batch && ahead->batch->rows == ROWS_A_BATCH) {
        read_ahead_end_batch(ahead, 1);
        read_ahead_begin_batch(ahead);
    }
    return ahead->batch ? ahead->batch->values + ahead->batch->rows * ahead->columns : NULL;
}

static size_t text_bytes(const struct read_ahead *ahead, const struct db_value *row)
{
    size_t bytes = 0;
    for (size_t i = 0; i < ahead->text_count; i++)
        if (row[ahead->texts[i]].type == DB_TEXT)
            bytes += row[ahead->texts[i]].text.length;
    return bytes;
}

/*
 * Moves the row to an empty batch, and enlarges this batch if necessary.  Uses realloc() and
 * returns an error if memory runs out.  This thread must not end the program, because the consumer
 * may be in the middle of any operation.
 */
static int read_ahead_make_room(struct read_ahead *ahead, size_t bytes, struct error *err)
{
    struct read_ahead_batch *last = ahead->batch;
    if (last->rows) {
        read_ahead_end_batch(ahead, 1);
        read_ahead_begin_batch(ahead);
        if (!ahead->batch)
            return -1;
        /* The consumer changes no batch, and the place after the last row is still unused. */
        memcpy(ahead->batch->values, last->values + last->rows * ahead->columns,
               ahead->columns * sizeof *last->values);
    }
    if (bytes <= ahead->batch->room)
        return 0;
    char *larger = realloc(ahead->batch->bytes, bytes);
    if (!larger)
        return fail(err, ERROR_OTHER, "out of memory");
    ahead->batch->bytes = larger;
    ahead->batch->room = bytes;
    return 0;
}

int read_ahead_add(struct read_ahead *ahead, struct error *err)
{
    size_t bytes = text_bytes(ahead, read_ahead_row(ahead));
    if (bytes > ahead->batch->room - ahead->batch->used && read_ahead_make_room(ahead, bytes, err))
        return -1;
    struct read_ahead_batch *batch = ahead->batch;
    struct db_value *row = batch->values + batch->rows++ * ahead->columns;
    for (size_t i = 0; i < ahead->text_count; i++) {
        struct db_value *value = &row[ahead->texts[i]];
        if (value->type != DB_TEXT)
            continue;
        char *copy = batch->bytes + batch->used;
        memcpy(copy, value->text.bytes, value->text.length);
        value->text.bytes = copy;
        batch->used += value->text.length;
    }
    return 0;
}

static void *read_ahead_run(void *context)
{
    struct read_ahead *ahead = context;
    read_ahead_begin_batch(ahead);
    int end = ahead->read(ahead->context, ahead, &ahead->err);
    if (ahead->batch)
        read_ahead_end_batch(ahead, end);
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
    free(ahead->texts);
    free(ahead);
}

struct read_ahead *read_ahead_start(read_ahead_reader read, void *context, const char *types)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return NULL;
    struct read_ahead *ahead = memory_zeroed(1, sizeof *ahead);
    ahead->read = read;
    ahead->context = context;
    ahead->columns = strlen(types);
    ahead->texts = memory_resized(NULL, ahead->columns, sizeof *ahead->texts);
    for (size_t i = 0; i < ahead->columns; i++)
        if (types[i] == 't')
            ahead->texts[ahead->text_count++] = i;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    for (size_t i = 0; i < BATCHES; i++) {
        ahead->batches[i].values =
            memory_resized(NULL, ROWS_A_BATCH * ahead->columns, sizeof *ahead->batches[i].values);
        ahead->batches[i].bytes = memory_resized(NULL, BYTES_A_BATCH, 1);
        ahead->batches[i].room = BYTES_A_BATCH;
    }
    if (db_thread_start(&ahead->thread, read_ahead_run, ahead))
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
