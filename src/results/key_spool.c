/* SPDX-License-Identifier: MIT */
#include "results/key_spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/file.h"
#include "util/memory.h"

/* Maximum number of keys in memory (1 MiB).  Sorting them takes as much memory again. */
#define KEYS_KEPT 131072u

/* A sorted sequence of keys in the file, with a read-ahead buffer. */
#define KEYS_AHEAD 512u
struct key_chunk {
    size_t first, count; /* position and number of its keys in the file */
    size_t next;         /* first of `count` keys that was not taken yet */
    size_t ahead_from, ahead_count;
    uint64_t *ahead;
};

struct key_spool {
    uint64_t *keys;
    size_t count, room;
    size_t next; /* first of the sorted keys that was not taken yet */
    bool is_sorted;
    FILE *file;
    const char *directory; /* directory of the file */
    size_t written;
    struct key_chunk *chunks;
    size_t chunk_count;
};

struct key_spool *key_spool_create(void)
{
    return memory_zeroed(1, sizeof(struct key_spool));
}

void key_spool_destroy(struct key_spool *spool)
{
    if (!spool)
        return;
    if (spool->file)
        fclose(spool->file);
    for (size_t i = 0; i < spool->chunk_count; i++)
        free(spool->chunks[i].ahead);
    free(spool->chunks);
    free(spool->keys);
    free(spool);
}

static int keys_compare(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* The counts of all values of a digit fit into the first-level cache. */
#define KEY_DIGIT_BITS 11
#define KEY_DIGITS ((size_t)1 << KEY_DIGIT_BITS)
/* With fewer keys, qsort() is faster. */
#define KEYS_BY_DIGIT 256u

/* Sorts `from` into `to` by the digit at `bit`.  The sort is stable. */
static void keys_by_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned bit)
{
    size_t place[KEY_DIGITS] = { 0 }, next = 0;
    for (size_t i = 0; i < count; i++)
        place[from[i] >> bit & (KEY_DIGITS - 1)]++;
    for (size_t digit = 0; digit < KEY_DIGITS; digit++) {
        size_t here = place[digit];
        place[digit] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[from[i] >> bit & (KEY_DIGITS - 1)]++] = from[i];
}

static void keys_sort(uint64_t *keys, size_t count)
{
    if (count < KEYS_BY_DIGIT) {
        if (count)
            qsort(keys, count, sizeof *keys, keys_compare);
        return;
    }
    uint64_t *scratch = memory_resized(NULL, count, sizeof *scratch), *from = keys, *to = scratch;
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= keys[i] ^ keys[0];
    for (unsigned bit = 0; bit < 64; bit += KEY_DIGIT_BITS) {
        if (!(differing >> bit & (KEY_DIGITS - 1)))
            continue;
        keys_by_digit(from, to, count, bit);
        uint64_t *done = to;
        to = from;
        from = done;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
    free(scratch);
}

static int key_spool_fail(const struct key_spool *spool, struct error *err)
{
    return fail(err, file_no_room(errno) ? ERROR_FULL : ERROR_OTHER,
                "cannot use a temporary file for the waiting times of jobs in '%s': %s; free space "
                "there or set TMPDIR to another directory",
                spool->directory, strerror(errno));
}

static void key_spool_sort(struct key_spool *spool)
{
    if (!spool->is_sorted)
        keys_sort(spool->keys, spool->count);
    spool->is_sorted = true;
}

static int key_spool_spill(struct key_spool *spool, struct error *err)
{
    key_spool_sort(spool);
    if (!spool->file && !(spool->file = file_temporary(&spool->directory)))
        return key_spool_fail(spool, err);
    if (fseeko(spool->file, 0, SEEK_END) ||
        fwrite(spool->keys, sizeof *spool->keys, spool->count, spool->file) != spool->count)
        return key_spool_fail(spool, err);
    *memory_append(&spool->chunks, &spool->chunk_count) =
        (struct key_chunk){ .first = spool->written, .count = spool->count };
    spool->written += spool->count;
    spool->count = 0;
    return 0;
}

int key_spool_add(struct key_spool *spool, uint64_t key, struct error *err)
{
    if (spool->count == KEYS_KEPT && key_spool_spill(spool, err))
        return -1;
    if (spool->count == spool->room) {
        spool->room = spool->room ? spool->room * 2 : 64;
        spool->keys = memory_resized(spool->keys, spool->room, sizeof *spool->keys);
    }
    spool->keys[spool->count++] = key;
    spool->is_sorted = false;
    return 0;
}

int key_spool_spill_rest(struct key_spool *spool, struct error *err)
{
    if (!spool->file)
        return 0;
    if (spool->count && key_spool_spill(spool, err))
        return -1;
    free(spool->keys);
    spool->keys = NULL;
    spool->room = 0;
    return 0;
}

static int key_chunk_read(const struct key_spool *spool, struct key_chunk *chunk, struct error *err)
{
    size_t left = chunk->count - chunk->next, count = left < KEYS_AHEAD ? left : KEYS_AHEAD;
    off_t at = (off_t)((chunk->first + chunk->next) * sizeof *chunk->ahead);
    if (!chunk->ahead)
        chunk->ahead = memory_resized(NULL, KEYS_AHEAD, sizeof *chunk->ahead);
    chunk->ahead_from = chunk->next;
    chunk->ahead_count = 0;
    if (fseeko(spool->file, at, SEEK_SET) ||
        fread(chunk->ahead, sizeof *chunk->ahead, count, spool->file) != count)
        return key_spool_fail(spool, err);
    chunk->ahead_count = count;
    return 0;
}

/* Keys that are collected to be counted. */
struct key_list {
    uint64_t *keys;
    size_t count, room;
};

static void key_list_add(struct key_list *list, uint64_t key)
{
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 64;
        list->keys = memory_resized(list->keys, list->room, sizeof *list->keys);
    }
    list->keys[list->count++] = key;
}

static int key_chunk_take(const struct key_spool *spool, struct key_chunk *chunk, uint64_t last,
                          struct key_list *list, struct error *err)
{
    for (; chunk->next < chunk->count; chunk->next++) {
        bool is_read = chunk->next >= chunk->ahead_from &&
                       chunk->next < chunk->ahead_from + chunk->ahead_count;
        if (!is_read && key_chunk_read(spool, chunk, err))
            return -1;
        uint64_t key = chunk->ahead[chunk->next - chunk->ahead_from];
        if (key > last)
            break;
        key_list_add(list, key);
    }
    return 0;
}

/* Counts equal keys, which are adjacent. */
static struct key_counts key_list_counts(const struct key_list *list)
{
    struct key_counts counts = { memory_zeroed(list->count, sizeof *counts.list), 0 };
    for (size_t i = 0; i < list->count; i++) {
        if (!i || list->keys[i] != list->keys[i - 1])
            counts.list[counts.count++].key = list->keys[i];
        counts.list[counts.count - 1].count++;
    }
    return counts;
}

int key_spool_take(struct key_spool *spool, uint64_t last, struct key_counts *counts,
                   struct error *err)
{
    struct key_list list = { 0 };
    int result = 0;
    *counts = (struct key_counts){ 0 };
    key_spool_sort(spool);
    for (; spool->next < spool->count && spool->keys[spool->next] <= last; spool->next++)
        key_list_add(&list, spool->keys[spool->next]);
    for (size_t i = 0; !result && i < spool->chunk_count; i++)
        result = key_chunk_take(spool, &spool->chunks[i], last, &list, err);
    if (!result && list.count) {
        keys_sort(list.keys, list.count);
        *counts = key_list_counts(&list);
    }
    free(list.keys);
    return result;
}

void key_spool_rewind(struct key_spool *spool)
{
    spool->next = 0;
    for (size_t i = 0; i < spool->chunk_count; i++)
        spool->chunks[i].next = 0;
}
