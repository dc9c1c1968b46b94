/* SPDX-License-Identifier: MIT */
#include "core/priority/places.h"

#include <stdlib.h>

#include "util/memory.h"

struct pool_places {
    uint32_t *ends; /* the end of each job's elements in `jobs`, and the start of the next job's */
    size_t known;   /* the number of jobs whose end is set */
    struct pool_job *jobs;
    uint32_t count;
};

struct pool_places *places_create(size_t jobs)
{
    struct pool_places *places = memory_zeroed(1, sizeof *places);
    places->ends = memory_zeroed(jobs + 1, sizeof *places->ends);
    return places;
}

void places_destroy(struct pool_places *places)
{
    if (!places)
        return;
    free(places->ends);
    free(places->jobs);
    free(places);
}

/* Compares by pool; within a pool, the next job is first. */
static int places_compare(const void *a, const void *b)
{
    const struct pool_job *one = a, *other = b;
    if (one->pool != other->pool)
        return one->pool < other->pool ? -1 : 1;
    if (one->tier != other->tier)
        return one->tier > other->tier ? -1 : 1;
    return (one->priority < other->priority) - (one->priority > other->priority);
}

static struct pool_job *places_find_job(const struct pool_places *places, size_t job, uint32_t pool)
{
    uint32_t end = job < places->known ? places->ends[job] : places->count;
    for (uint32_t i = job ? places->ends[job - 1] : 0; i < end; i++)
        if (places->jobs[i].pool == pool)
            return &places->jobs[i];
    return NULL;
}

void places_add(struct pool_places *places, size_t job, const struct pool_job *added)
{
    while (places->known < job)
        places->ends[places->known++] = places->count;
    struct pool_job *known = places_find_job(places, job, added->pool);
    if (!known)
        *memory_append(&places->jobs, &places->count) = *added;
    else if (places_compare(added, known) < 0)
        *known = *added;
}

void places_rank(struct pool_places *places)
{
    struct pool_job *sorted = memory_zeroed(places->count + 1, sizeof *sorted);
    for (uint32_t i = 0; i < places->count; i++) {
        sorted[i] = places->jobs[i];
        sorted[i].place = i; /* remembers the position in `jobs` */
    }
    qsort(sorted, places->count, sizeof *sorted, places_compare);
    uint32_t first = 0, place = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        if (!i || sorted[i].pool != sorted[i - 1].pool)
            first = i;
        if (i == first || places_compare(&sorted[i - 1], &sorted[i]))
            place = i - first + 1;
        places->jobs[sorted[i].place].place = place;
    }
    free(sorted);
}

uint32_t places_find(const struct pool_places *places, size_t job, uint32_t pool)
{
    const struct pool_job *found = job > places->known ? NULL : places_find_job(places, job, pool);
    return found ? found->place : 0;
}
