/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/insight/heavy.h"

#include <stdlib.h>

#include "core/usage/clock.h"
#include "core/usage/usage.h"
#include "util/index.h"
#include "util/memory.h"

/* What is taken back of a record. */
struct suspended {
    uint64_t id_job, start;
    struct wide used, left;
    uint32_t next; /* of the same job; INDEX_NONE */
};

struct heavy_suspensions {
    struct id_index *first; /* by job */
    struct suspended *records;
    uint32_t count;
};

static struct suspended *find(struct heavy_suspensions *all, uint64_t id_job, uint64_t start)
{
    for (uint32_t i = id_index_find(all->first, id_job); i != INDEX_NONE; i = all->records[i].next)
        if (all->records[i].start == start)
            return &all->records[i];
    return NULL;
}

static struct suspended *add(struct heavy_suspensions *all, uint64_t id_job, uint64_t start)
{
    uint32_t before = id_index_add(all->first, id_job, all->count), next = INDEX_NONE;
    all->records = memory_resized(all->records, all->count + 1, sizeof *all->records);
    if (before != INDEX_NONE) {
        next = all->records[before].next;
        all->records[before].next = all->count;
    }
    all->records[all->count] = (struct suspended){ .id_job = id_job, .start = start, .next = next };
    return &all->records[all->count++];
}

bool heavy_suspend(struct heavy *heavy, uint64_t id_job, uint64_t start,
                   const struct charge_term *taken_back, uint128 seconds)
{
    if (!heavy->suspensions) {
        heavy->suspensions = memory_zeroed(1, sizeof *heavy->suspensions);
        heavy->suspensions->first = id_index_create();
    }
    struct suspended *suspended = find(heavy->suspensions, id_job, start);
    if (!suspended)
        suspended = add(heavy->suspensions, id_job, start);
    return wide_add_product(&suspended->used, taken_back->units, seconds, false) &&
           wide_add_product(&suspended->left, taken_back->units, taken_back->weight, false);
}

static bool is_heavier(const struct heavy_record *one, const struct heavy_record *other)
{
    struct natural first = natural_of_wide(&one->left), second = natural_of_wide(&other->left);
    int order = natural_compare(&first, &second);
    if (order)
        return order > 0;
    return one->id_job != other->id_job ? one->id_job < other->id_job : one->start < other->start;
}

static void keep(struct heavy *heavy, const struct heavy_record *record)
{
    size_t at = heavy->count < HEAVY_KEPT ? heavy->count++ : HEAVY_KEPT - 1;
    if (heavy->seen > HEAVY_KEPT && !is_heavier(record, &heavy->kept[at]))
        return;
    for (; at > 0 && is_heavier(record, &heavy->kept[at - 1]); at--)
        heavy->kept[at] = heavy->kept[at - 1];
    heavy->kept[at] = *record;
}

bool heavy_add(struct heavy *heavy, const struct clock *plain, const struct charge_term *term,
               struct heavy_record record)
{
    record.used = record.left = (struct wide){ { 0 } };
    if (!wide_add_product(&record.used, term->units, clock_weight(plain, term->start, term->end),
                          false) ||
        !wide_add_product(&record.left, term->units, term->weight, false))
        return false;
    const struct suspended *suspended =
        heavy->suspensions ? find(heavy->suspensions, record.id_job, record.start) : NULL;
    if (suspended && (!wide_subtract(&record.used, &suspended->used) ||
                      !wide_subtract(&record.left, &suspended->left)))
        return false;
    heavy->seen++;
    if (!wide_add(&heavy->left, &record.left))
        return false;
    keep(heavy, &record);
    return true;
}

void heavy_free(struct heavy *heavy)
{
    if (!heavy->suspensions)
        return;
    id_index_destroy(heavy->suspensions->first);
    free(heavy->suspensions->records);
    free(heavy->suspensions);
}
