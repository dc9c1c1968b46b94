/* SPDX-License-Identifier: MIT */
#include "core/usage/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "util/index.h"
#include "util/memory.h"

struct usage_sums *usage_sums_create(size_t tres_count)
{
    struct usage_sums *sums = memory_zeroed(1, sizeof *sums);
    sums->places = id_index_create();
    sums->tres_count = tres_count;
    return sums;
}

void usage_sums_destroy(struct usage_sums *sums)
{
    if (!sums)
        return;
    id_index_destroy(sums->places);
    free(sums->rows);
    free(sums->tres);
    free(sums);
}

struct usage_place usage_sums_place(struct usage_sums *sums, uint64_t id)
{
    uint32_t place = id_index_add(sums->places, id, (uint32_t)sums->count);
    if (place != INDEX_NONE)
        return (struct usage_place){ &sums->rows[place].sum, usage_sums_tres(sums, place) };
    size_t stride = sums->tres_count * sizeof *sums->tres;
    if (sums->count == sums->room) {
        sums->room = sums->room ? sums->room + sums->room / 2 : 256;
        sums->rows = memory_resized(sums->rows, sums->room, sizeof *sums->rows);
        if (stride)
            sums->tres = memory_resized(sums->tres, sums->room, stride);
    }
    sums->rows[sums->count] = (struct usage_sum){ .id = id };
    int128 *tres = usage_sums_tres(sums, sums->count);
    if (stride)
        memset(tres, 0, stride);
    return (struct usage_place){ &sums->rows[sums->count++].sum, tres };
}

struct wide *usage_sums_of(struct usage_sums *sums, uint64_t id)
{
    return usage_sums_place(sums, id).sum;
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

uint64_t usage_sum_hash(uint64_t id, const struct wide *sum, const char *tres, size_t length)
{
    uint64_t words[] = { id,           sum->word[0],
                         sum->word[1], sum->word[2],
                         sum->word[3], length ? XXH3_64bits(tres, length) : 0 };
    return hash_words(words, sizeof words / sizeof *words - !length);
}

void job_keys_add(struct job_keys *keys, uint64_t key)
{
    *memory_append(&keys->keys, &keys->count) = key;
}

static int checkpoint_by_key(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

void job_keys_sort(struct job_keys *keys)
{
    if (!keys->count)
        return;
    qsort(keys->keys, keys->count, sizeof *keys->keys, checkpoint_by_key);
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

static struct day_hash *day_hash_at(struct day_hashes *hashes, uint64_t day)
{
    if (day >= hashes->count) {
        size_t count = day < 2 * hashes->count ? 2 * hashes->count : (size_t)day + 1;
        hashes->of_day = memory_resized(hashes->of_day, count, sizeof *hashes->of_day);
        memset(hashes->of_day + hashes->count, 0, (count - hashes->count) * sizeof *hashes->of_day);
        hashes->count = count;
    }
    return &hashes->of_day[day];
}

void day_hash_add(struct day_hash *slice, uint64_t hash, bool negative)
{
    slice->rows += negative ? UINT64_MAX : 1;
    slice->hash += negative ? -hash : hash;
}

void day_hashes_add(struct day_hashes *hashes, uint64_t time_end, uint64_t hash, bool negative)
{
    day_hash_add(day_hash_at(hashes, time_end / CHECKPOINT_SLICE_S), hash, negative);
}

void day_hashes_set(struct day_hashes *hashes, uint64_t day, struct day_hash hash)
{
    *day_hash_at(hashes, day) = hash;
}

struct day_hash day_hash_of(const struct day_hashes *hashes, uint64_t day)
{
    return day < hashes->count ? hashes->of_day[day] : (struct day_hash){ 0 };
}

bool day_hash_same(struct day_hash one, struct day_hash other)
{
    return one.rows == other.rows && one.hash == other.hash;
}

void day_hashes_free(struct day_hashes *hashes)
{
    free(hashes->of_day);
    *hashes = (struct day_hashes){ 0 };
}

void checkpoint_free(struct checkpoint *checkpoint)
{
    free(checkpoint->source);
    free(checkpoint->basis);
    *checkpoint = (struct checkpoint){ 0 };
}

uint64_t checkpoint_reach(const struct checkpoint *checkpoint)
{
    return checkpoint->checkpointed_to > checkpoint->jobs_from ? checkpoint->checkpointed_to
                                                               : checkpoint->jobs_from;
}

uint64_t checkpoint_hash(const struct checkpoint *checkpoint)
{
    const uint64_t numbers[] = {
        checkpoint->as_of,
        checkpoint->full_as_of,
        checkpoint->cutoff,
        checkpoint->checkpointed_to,
        checkpoint->start,
        checkpoint->jobs_from,
        checkpoint->oldest_end,
        checkpoint->first_charge,
        checkpoint->newest_end,
        checkpoint->sums_hash,
        checkpoint->open_hash,
        checkpoint->checked_to,
        XXH3_64bits(checkpoint->source, strlen(checkpoint->source)),
        XXH3_64bits(checkpoint->basis, strlen(checkpoint->basis)),
    };
    return hash_words(numbers, sizeof numbers / sizeof *numbers);
}

/* Returns true if the text contains this line of `length` bytes. */
static bool has_line(const char *text, const char *line, size_t length)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (strcspn(text, "\n") == length && !memcmp(text, line, length))
            return true;
    return false;
}

char *checkpoint_basis_difference(const char *one, const char *other)
{
    while (*one || *other) {
        size_t length = strcspn(one, "\n"), other_length = strcspn(other, "\n");
        if (length != other_length || memcmp(one, other, length)) {
            /* If the line occurs later in `other`, it is unchanged and another line was inserted
             * before it. */
            const char *line = length && !has_line(other, one, length) ? one : other;
            return memory_bytes(line, strcspn(line, " \n"));
        }
        one += length + (one[length] == '\n');
        other += length + (other[length] == '\n');
    }
    return NULL;
}
