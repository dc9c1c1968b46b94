/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "report/priorities.h"
#include "report/whatif.h"
#include "util/index.h"
#include "util/memory.h"

static struct whatif_job *whatif_find_or_add_job(struct whatif *whatif, const struct prio_row *row)
{
    uint32_t place = id_index_add(whatif->job_places, row->key, (uint32_t)whatif->job_count);
    if (place != INDEX_NONE)
        return &whatif->jobs[place];
    struct whatif_job *job = memory_append(&whatif->jobs, &whatif->job_count);
    *job = (struct whatif_job){
        .key = row->key,
        .id = row->id_job,
        .user = whatif_text(whatif, row->user),
        .account = whatif_text(whatif, row->account),
        .reason = whatif_text(whatif, row->reason),
        .partition = { "", "" },
        .pool = { "", "" },
    };
    return job;
}

void whatif_add_job_row(struct whatif *whatif, enum whatif_side side, const struct prio_row *row,
                        int64_t priority, double norm)
{
    struct whatif_job *job = whatif_find_or_add_job(whatif, row);
    bool starts = row->place != 0; /* running jobs have neither a reason nor a place */
    const char *pool = whatif_text(whatif, row->pool);
    if (starts)
        *memory_append(&whatif->entries[side].list, &whatif->entries[side].count) =
            (struct whatif_entry){ row->key, pool, row->tier, priority };
    bool is_better = starts != job->starts[side]    ? starts
                     : row->tier != job->tier[side] ? row->tier > job->tier[side]
                                                    : norm > job->norm[side];
    if (job->there[side] && !is_better)
        return;
    job->there[side] = true;
    job->starts[side] = starts;
    job->reason = whatif_text(whatif, row->reason);
    job->partition[side] = whatif_text(whatif, row->partition);
    job->pool[side] = pool;
    job->tier[side] = row->tier;
    job->priority[side] = priority;
    job->norm[side] = norm;
}

static int whatif_by_order(const void *a, const void *b)
{
    const struct whatif_entry *one = a, *other = b;
    int pools = strcmp(one->pool, other->pool);
    if (pools)
        return pools;
    if (one->tier != other->tier)
        return one->tier > other->tier ? -1 : 1;
    if (one->priority != other->priority)
        return one->priority > other->priority ? -1 : 1;
    return (one->key > other->key) - (one->key < other->key);
}

/* A job's first row in a pool is its best row there; the others do not count. */
static void whatif_place_side(struct whatif *whatif, enum whatif_side side,
                              const struct id_index *places)
{
    struct whatif_entries *entries = &whatif->entries[side];
    size_t *counted = memory_zeroed(whatif->job_count + 1, sizeof *counted);
    const struct whatif_entry *last = NULL;
    size_t pool = 0, count = 0, place = 0;
    if (entries->count)
        qsort(entries->list, entries->count, sizeof *entries->list, whatif_by_order);
    for (size_t i = 0; i < entries->count; i++) {
        const struct whatif_entry *entry = &entries->list[i];
        uint32_t number = id_index_find(places, entry->key);
        bool is_new = !last || strcmp(last->pool, entry->pool) != 0;
        if (number == INDEX_NONE || (!is_new && counted[number] == pool))
            continue;
        pool += is_new;
        count = is_new ? 1 : count + 1;
        if (is_new || last->tier != entry->tier || last->priority != entry->priority)
            place = count;
        counted[number] = pool;
        last = entry;
        if (!strcmp(whatif->jobs[number].pool[side], entry->pool))
            whatif->jobs[number].place[side] = place;
    }
    free(counted);
}

static int whatif_by_place(const void *a, const void *b)
{
    const struct whatif_job *one = a, *other = b;
    if (!one->place[AFTER] != !other->place[AFTER])
        return one->place[AFTER] ? -1 : 1;
    int pools = strcmp(one->pool[AFTER], other->pool[AFTER]);
    if (pools)
        return pools;
    if (one->place[AFTER] != other->place[AFTER])
        return one->place[AFTER] < other->place[AFTER] ? -1 : 1;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return (one->key > other->key) - (one->key < other->key);
}

void whatif_place_jobs(struct whatif *whatif)
{
    struct id_index *places = id_index_create();
    for (uint32_t i = 0; i < whatif->job_count; i++)
        id_index_add(places, whatif->jobs[i].key, i);
    for (enum whatif_side side = BEFORE; side < SIDES; side++)
        whatif_place_side(whatif, side, places);
    id_index_destroy(places);
    if (whatif->job_count)
        qsort(whatif->jobs, whatif->job_count, sizeof *whatif->jobs, whatif_by_place);
}
