/* SPDX-License-Identifier: MIT */
#include "util/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/*
 * An arena's first chunk is small, because most arenas hold few names.  Each further chunk is twice
 * as large as the previous chunk, up to the second limit.
 */
#define FIRST_CHUNK_BYTES ((size_t)4 * 1024)
#define LAST_CHUNK_BYTES ((size_t)256 * 1024)
#define LARGE_BYTES (1024 * 1024)
#define KEPT_BYTES (128 << 20) /* of free memory at the end of the heap */
#define FIRST_ROOM ((size_t)8) /* initial capacity of a growing array; a power of two */

struct memory_chunk {
    struct memory_chunk *older;
    size_t used, size;
    _Alignas(16) char bytes[];
};

struct arena {
    struct memory_chunk *newest;
};

/*
 * Memory that is reserved for the function of memory_before_end(), enough for a database session.
 * Unused pages are not touched, so they only take up address space.
 */
#define RESERVE_BYTES ((size_t)8 * 1024 * 1024)

/* Per thread, because another thread must not call the function. */
static _Thread_local struct {
    int (*act)(void *context);
    void *context, *reserve;
} before_end;

static void memory_end(void)
{
    int (*act)(void *) = before_end.act;
    before_end.act = NULL;
    free(before_end.reserve);
    before_end.reserve = NULL;
    if (act)
        exit(act(before_end.context));
    fputs("fairmill: out of memory\n", stderr);
    exit(1);
}

static void *or_exit(void *memory)
{
    if (!memory)
        memory_end();
    return memory;
}

void memory_before_end(int (*act)(void *context), void *context)
{
    before_end.act = act;
    before_end.context = context;
    if (act && !before_end.reserve)
        before_end.reserve = or_exit(malloc(RESERVE_BYTES));
    if (!act) {
        free(before_end.reserve);
        before_end.reserve = NULL;
    }
}

void memory_give_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

void *memory_zeroed(size_t count, size_t size)
{
    return or_exit(calloc(count ? count : 1, size ? size : 1));
}

void *memory_resized(void *old, size_t count, size_t size)
{
    return or_exit(reallocarray(old, count ? count : 1, size ? size : 1));
}

void *memory_grown(void *array, size_t count, size_t size)
{
    if (!count)
        return memory_resized(array, FIRST_ROOM, size);
    bool full = count >= FIRST_ROOM && (count & (count - 1)) == 0;
    return full ? memory_resized(array, count * 2, size) : array;
}

char *memory_text(const char *text)
{
    return or_exit(strdup(text));
}

char *memory_bytes(const char *bytes, size_t length)
{
    return or_exit(strndup(bytes, length));
}

struct arena *arena_create(void)
{
    return memory_zeroed(1, sizeof(struct arena));
}

static size_t room_of_next(const struct memory_chunk *chunk)
{
    if (!chunk)
        return FIRST_CHUNK_BYTES;
    return chunk->size < LAST_CHUNK_BYTES / 2 ? chunk->size * 2 : LAST_CHUNK_BYTES;
}

static void *memory_take(struct arena *arena, size_t size, size_t alignment)
{
    struct memory_chunk *chunk = arena->newest;
    if (chunk)
        chunk->used = (chunk->used + alignment - 1) & ~(alignment - 1);
    if (!chunk || chunk->used > chunk->size || chunk->size - chunk->used < size) {
        size_t next = room_of_next(chunk), room = size > next ? size : next;
        struct memory_chunk *fresh = or_exit(malloc(sizeof *fresh + room));
        *fresh = (struct memory_chunk){ .older = chunk, .size = room };
        arena->newest = chunk = fresh;
    }
    void *taken = chunk->bytes + chunk->used;
    chunk->used += size;
    return taken;
}

void *arena_take(struct arena *arena, size_t size)
{
    return memory_take(arena, size, 16);
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = memory_take(arena, length + 1, 1);
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

void arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    for (struct memory_chunk *chunk = arena->newest; chunk;) {
        struct memory_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    free(arena);
}
