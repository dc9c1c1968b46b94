/* SPDX-License-Identifier: MIT */
#include "core/usage/usage_owners.h"

#include <stdlib.h>

#include "util/index.h"
#include "util/memory.h"

struct owned {
    uint64_t association;
    struct usage_owner *first, *last;
};

struct usage_owners {
    struct id_index *places;
    struct owned *rows;
    uint32_t count;
    struct arena *arena; /* allocates the owners */
};

struct usage_owners *usage_owners_create(void)
{
    struct usage_owners *owners = memory_zeroed(1, sizeof *owners);
    owners->places = id_index_create();
    owners->arena = arena_create();
    return owners;
}

void usage_owners_destroy(struct usage_owners *owners)
{
    if (!owners)
        return;
    id_index_destroy(owners->places);
    free(owners->rows);
    arena_destroy(owners->arena);
    free(owners);
}

static struct owned *owned_by(struct usage_owners *owners, uint64_t association)
{
    uint32_t place = id_index_add(owners->places, association, owners->count);
    if (place != INDEX_NONE)
        return &owners->rows[place];
    owners->rows = memory_grown(owners->rows, owners->count, sizeof *owners->rows);
    owners->rows[owners->count] = (struct owned){ .association = association };
    return &owners->rows[owners->count++];
}

void usage_owners_add(struct usage_owners *owners, uint64_t association, uint64_t until,
                      uint64_t owner)
{
    struct owned *owned = owned_by(owners, association);
    struct usage_owner *added = arena_take(owners->arena, sizeof *added);
    *added = (struct usage_owner){ .association = owner, .until = until };
    if (owned->last)
        owned->last->later = added;
    else
        owned->first = added;
    owned->last = added;
}

const struct usage_owner *usage_owners_find(const struct usage_owners *owners, uint64_t association)
{
    uint32_t place = owners ? id_index_find(owners->places, association) : INDEX_NONE;
    return place == INDEX_NONE ? NULL : owners->rows[place].first;
}

bool usage_owners_at(const struct usage_owners *owners, uint32_t place, uint64_t *association)
{
    if (!owners || place >= owners->count)
        return false;
    *association = owners->rows[place].association;
    return true;
}

uint64_t usage_owners_hash(const struct usage_owners *owners, uint64_t reach)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; owners && i < owners->count; i++) {
        uint64_t from = 0;
        for (const struct usage_owner *owner = owners->rows[i].first; owner && from < reach;
             from = owner->until, owner = owner->later) {
            uint64_t until = owner->until < reach ? owner->until : reach;
            const uint64_t words[] = { owners->rows[i].association, owner->association, from,
                                       until };
            hash += hash_words(words, sizeof words / sizeof *words);
        }
    }
    return hash;
}

/* Charge intervals. */

void charge_interval_cut(struct slice *interval, uint64_t end)
{
    interval->rate = charge_rate_at(interval->rate, interval->start);
    while (interval->owner && interval->owner->until <= interval->start)
        interval->owner = interval->owner->later;
    interval->association = interval->owner ? interval->owner->association : interval->own;
    interval->end = end;
    if (interval->rate->later && interval->rate->later_from < interval->end)
        interval->end = interval->rate->later_from;
    if (interval->owner && interval->owner->until < interval->end)
        interval->end = interval->owner->until;
}
