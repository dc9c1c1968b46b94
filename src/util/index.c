/* SPDX-License-Identifier: MIT */
#include "util/index.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "util/memory.h"

/* Ids below this limit are in an array that grows to the largest of these ids. */
#define DENSE_LIMIT ((uint64_t)1 << 22)

struct index_slot {
    uint64_t id;
    uint32_t place;
};

struct id_index {
    uint32_t *dense;
    size_t dense_size;
    struct index_slot *slots; /* slot_count is a power of two; an empty slot has place INDEX_NONE */
    size_t slot_count, used;
};

struct id_index *id_index_create(void)
{
    return memory_zeroed(1, sizeof(struct id_index));
}

static uint32_t add_dense(struct id_index *index, uint64_t id, uint32_t place)
{
    if (id >= index->dense_size) {
        size_t size = index->dense_size ? index->dense_size : 1024;
        while (size <= id)
            size *= 2;
        index->dense = memory_resized(index->dense, size, sizeof *index->dense);
        memset(index->dense + index->dense_size, 0xff,
               (size - index->dense_size) * sizeof *index->dense);
        index->dense_size = size;
    }
    uint32_t stored = index->dense[id];
    if (stored == INDEX_NONE)
        index->dense[id] = place;
    return stored;
}

static struct index_slot *slot_of(const struct id_index *index, uint64_t id)
{
    size_t mask = index->slot_count - 1;
    size_t at = (size_t)(XXH3_64bits(&id, sizeof id)) & mask;
    while (index->slots[at].place != INDEX_NONE && index->slots[at].id != id)
        at = (at + 1) & mask;
    return &index->slots[at];
}

static void index_grow(struct id_index *index)
{
    struct id_index larger = { .slot_count = index->slot_count ? index->slot_count * 2 : 1024 };
    larger.slots = memory_resized(NULL, larger.slot_count, sizeof *larger.slots);
    for (size_t i = 0; i < larger.slot_count; i++)
        larger.slots[i].place = INDEX_NONE;
    for (size_t i = 0; i < index->slot_count; i++)
        if (index->slots[i].place != INDEX_NONE)
            *slot_of(&larger, index->slots[i].id) = index->slots[i];
    free(index->slots);
    index->slots = larger.slots;
    index->slot_count = larger.slot_count;
}

uint32_t id_index_add(struct id_index *index, uint64_t id, uint32_t place)
{
    if (id < DENSE_LIMIT)
        return add_dense(index, id, place);
    if (2 * (index->used + 1) > index->slot_count)
        index_grow(index);
    struct index_slot *slot = slot_of(index, id);
    uint32_t stored = slot->place;
    if (stored == INDEX_NONE) {
        *slot = (struct index_slot){ id, place };
        index->used++;
    }
    return stored;
}

uint32_t id_index_find(const struct id_index *index, uint64_t id)
{
    if (id < DENSE_LIMIT)
        return id < index->dense_size ? index->dense[id] : INDEX_NONE;
    return index->slot_count ? slot_of(index, id)->place : INDEX_NONE;
}

void id_index_destroy(struct id_index *index)
{
    if (!index)
        return;
    free(index->dense);
    free(index->slots);
    free(index);
}

struct names {
    struct arena *arena;
    const char **texts;
    uint32_t *lengths;
    size_t count, room;
    uint32_t *slots; /* numbers of names; slot_count is a power of two */
    size_t slot_count;
};

struct names *names_create(void)
{
    struct names *names = memory_zeroed(1, sizeof *names);
    names->arena = arena_create();
    return names;
}

static uint32_t *name_slot(const struct names *names, const char *bytes, size_t length)
{
    size_t mask = names->slot_count - 1;
    size_t at = (size_t)XXH3_64bits(bytes, length) & mask;
    for (; names->slots[at] != INDEX_NONE; at = (at + 1) & mask) {
        uint32_t number = names->slots[at];
        if (names->lengths[number] == length && !memcmp(names->texts[number], bytes, length))
            break;
    }
    return &names->slots[at];
}

static void names_grow(struct names *names)
{
    names->room = names->room ? names->room * 2 : 512;
    names->texts = memory_resized(names->texts, names->room, sizeof *names->texts);
    names->lengths = memory_resized(names->lengths, names->room, sizeof *names->lengths);
    names->slot_count = names->room * 2;
    names->slots = memory_resized(names->slots, names->slot_count, sizeof *names->slots);
    memset(names->slots, 0xff, names->slot_count * sizeof *names->slots);
    for (uint32_t i = 0; i < names->count; i++)
        *name_slot(names, names->texts[i], names->lengths[i]) = i;
}

uint32_t names_add(struct names *names, const char *bytes, size_t length)
{
    if (names->count == names->room)
        names_grow(names);
    uint32_t *slot = name_slot(names, bytes, length);
    if (*slot == INDEX_NONE) {
        *slot = (uint32_t)names->count;
        names->texts[names->count] = arena_copy(names->arena, bytes, length);
        names->lengths[names->count++] = (uint32_t)length;
    }
    return *slot;
}

uint32_t names_find(const struct names *names, const char *bytes, size_t length)
{
    return names->slot_count ? *name_slot(names, bytes, length) : INDEX_NONE;
}

const char *names_text(const struct names *names, uint32_t number)
{
    return names->texts[number];
}

size_t names_length(const struct names *names, uint32_t number)
{
    return names->lengths[number];
}

uint32_t names_count(const struct names *names)
{
    return (uint32_t)names->count;
}

void names_destroy(struct names *names)
{
    if (!names)
        return;
    arena_destroy(names->arena);
    free(names->texts);
    free(names->lengths);
    free(names->slots);
    free(names);
}

uint64_t hash_words(const uint64_t *words, size_t count)
{
    if (htole64(1) == 1)
        return XXH3_64bits(words, count * sizeof *words);
    uint64_t *little_endian = memory_zeroed(count + 1, sizeof *little_endian);
    for (size_t i = 0; i < count; i++)
        little_endian[i] = htole64(words[i]);
    uint64_t hash = XXH3_64bits(little_endian, count * sizeof *little_endian);
    free(little_endian);
    return hash;
}
