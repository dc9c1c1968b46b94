/* SPDX-License-Identifier: MIT */
#include "core/usage/seal.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "util/index.h"
#include "util/memory.h"

struct usage_sums *usage_sums_create(void)
{
    struct usage_sums *sums = memory_zeroed(1, sizeof *sums);
    sums->places = id_index_create();
    return sums;
}

void usage_sums_destroy(struct usage_sums *sums)
{
    if (!sums)
        return;
    id_index_destroy(sums->places);
    free(sums->rows);
    free(sums);
}

struct wide *usage_sums_of(struct usage_sums *sums, uint64_t id)
{
    uint32_t place = id_index_add(sums->places, id, (uint32_t)sums->count);
    if (place != INDEX_NONE)
        return &sums->rows[place].sum;
    if (sums->count == sums->room) {
        sums->room = sums->room ? sums->room + sums->room / 2 : 256;
        sums->rows = memory_resized(sums->rows, sums->room, sizeof *sums->rows);
    }
    sums->rows[sums->count] = (struct usage_sum){ .id = id };
    return &sums->rows[sums->count++].sum;
}

struct usage_sum *usage_sums_find(const struct usage_sums *sums, uint64_t id)
{
    uint32_t place = id_index_find(sums->places, id);
    return place == INDEX_NONE ? NULL : &sums->rows[place];
}

static int by_sums_id(const void *a, const void *b)
{
    const struct usage_sum *one = *(const struct usage_sum *const *)a;
    const struct usage_sum *other = *(const struct usage_sum *const *)b;
    return (one->id > other->id) - (one->id < other->id);
}

const struct usage_sum **usage_sums_by_id(const struct usage_sums *sums)
{
    const struct usage_sum **sorted = memory_resized(NULL, sums->count, sizeof *sorted);
    for (size_t i = 0; i < sums->count; i++)
        sorted[i] = &sums->rows[i];
    if (sums->count)
        qsort(sorted, sums->count, sizeof *sorted, by_sums_id);
    return sorted;
}

uint64_t usage_sum_hash(uint64_t id, const struct wide *sum)
{
    uint64_t words[] = { id, sum->word[0], sum->word[1], sum->word[2], sum->word[3] };
    return hash_words(words, sizeof words / sizeof *words);
}

void job_keys_add(struct job_keys *keys, uint64_t key)
{
    keys->keys = memory_grown(keys->keys, keys->count, sizeof *keys->keys);
    keys->keys[keys->count++] = key;
}

static int by_key(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

void job_keys_sort(struct job_keys *keys)
{
    if (!keys->count)
        return;
    qsort(keys->keys, keys->count, sizeof *keys->keys, by_key);
    size_t kept = 1;
    for (size_t i = 1; i < keys->count; i++)
        if (keys->keys[i] != keys->keys[kept - 1])
            keys->keys[kept++] = keys->keys[i];
    keys->count = kept;
}

struct job_keys job_keys_without(const struct job_keys *keys, const struct job_keys *others)
{
    struct job_keys rest = { 0 };
    size_t other = 0;
    for (size_t i = 0; i < keys->count; i++) {
        while (other < others->count && others->keys[other] < keys->keys[i])
            other++;
        if (other == others->count || others->keys[other] != keys->keys[i])
            job_keys_add(&rest, keys->keys[i]);
    }
    return rest;
}

uint64_t job_keys_hash(const struct job_keys *keys)
{
    return keys->count ? hash_words(keys->keys, keys->count) : 0;
}

void job_keys_free(struct job_keys *keys)
{
    free(keys->keys);
    *keys = (struct job_keys){ 0 };
}

static struct seal_slice *slice_at(struct seal_slices *slices, uint64_t day)
{
    if (day >= slices->count) {
        size_t count = day < 2 * slices->count ? 2 * slices->count : (size_t)day + 1;
        slices->of_day = memory_resized(slices->of_day, count, sizeof *slices->of_day);
        memset(slices->of_day + slices->count, 0, (count - slices->count) * sizeof *slices->of_day);
        slices->count = count;
    }
    return &slices->of_day[day];
}

void seal_slice_add(struct seal_slice *slice, uint64_t hash, bool negative)
{
    slice->rows += negative ? UINT64_MAX : 1;
    slice->hash += negative ? -hash : hash;
}

void seal_slices_add(struct seal_slices *slices, uint64_t time_end, uint64_t hash, bool negative)
{
    seal_slice_add(slice_at(slices, time_end / SEAL_SLICE_S), hash, negative);
}

void seal_slices_set(struct seal_slices *slices, uint64_t day, struct seal_slice slice)
{
    *slice_at(slices, day) = slice;
}

struct seal_slice seal_slice_of(const struct seal_slices *slices, uint64_t day)
{
    return day < slices->count ? slices->of_day[day] : (struct seal_slice){ 0 };
}

bool seal_slice_same(struct seal_slice one, struct seal_slice other)
{
    return one.rows == other.rows && one.hash == other.hash;
}

void seal_slices_free(struct seal_slices *slices)
{
    free(slices->of_day);
    *slices = (struct seal_slices){ 0 };
}

void seal_free(struct seal *seal)
{
    free(seal->source);
    free(seal->basis);
    *seal = (struct seal){ 0 };
}

uint64_t seal_reach(const struct seal *seal)
{
    return seal->sealed_to > seal->jobs_from ? seal->sealed_to : seal->jobs_from;
}

uint64_t seal_hash(const struct seal *seal)
{
    const uint64_t numbers[] = {
        seal->as_of,
        seal->full_as_of,
        seal->cutoff,
        seal->sealed_to,
        seal->start,
        seal->jobs_from,
        seal->oldest_end,
        seal->first_charge,
        seal->newest_end,
        seal->sums_hash,
        seal->open_hash,
        seal->checked_to,
        XXH3_64bits(seal->source, strlen(seal->source)),
        XXH3_64bits(seal->basis, strlen(seal->basis)),
    };
    return hash_words(numbers, sizeof numbers / sizeof *numbers);
}

/* Whether a line, of which there are so many bytes, is among those of a text. */
static bool has_line(const char *text, const char *line, size_t length)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strcspn(text, "\n") == length && !memcmp(text, line, length))
            return true;
    return false;
}

char *seal_basis_difference(const char *one, const char *other)
{
    while (*one || *other) {
        size_t length = strcspn(one, "\n"), other_length = strcspn(other, "\n");
        if (length != other_length || memcmp(one, other, length)) {
            /* A line that comes later in the other has not changed: one was put in before it. */
            const char *line = length && !has_line(other, one, length) ? one : other;
            return memory_bytes(line, strcspn(line, " \n"));
        }
        one += length + (one[length] == '\n');
        other += length + (other[length] == '\n');
    }
    return NULL;
}
