/* SPDX-License-Identifier: MIT */
#include "util/hash.h"

#include <endian.h>
#include <stdlib.h>

#include <xxhash.h>

#include "util/memory.h"

uint64_t hash_words(const uint64_t *words, size_t count)
{
    if (htole64(1) == 1)
        return XXH3_64bits(words, count * sizeof *words);
    uint64_t *turned = memory_zeroed(count + 1, sizeof *turned);
    for (size_t i = 0; i < count; i++)
        turned[i] = htole64(words[i]);
    uint64_t hash = XXH3_64bits(turned, count * sizeof *turned);
    free(turned);
    return hash;
}
