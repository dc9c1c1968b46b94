/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_PLACES_H
#define FAIRMILL_CORE_PRIORITY_PLACES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The order in which slurmctld considers the pending jobs of a pool: by PriorityTier, then by
 * priority (sort_job_queue2() in Slurm's job_scheduler.c).  Place 1 is the next job of its pool.
 * Jobs that slurmctld distinguishes only by their submission share a place: 1, 2, 2, 4.
 */

/* A job in a pool. */
struct pool_job {
    uint32_t pool; /* a number for each pool */
    uint32_t priority;
    int32_t tier; /* PriorityTier; a negative number if it is unknown */
    uint32_t place;
};

/* The jobs are numbered from 0.  The caller frees the result with places_destroy(), which accepts
 * NULL. */
struct pool_places *places_create(size_t jobs);
void places_destroy(struct pool_places *places);
/* Adds a job to a pool, in ascending order of jobs.  If it is already there, its better tier and
 * priority count. */
void places_add(struct pool_places *places, size_t job, const struct pool_job *added);
/* Call it once, after the last job. */
void places_rank(struct pool_places *places);
/* Returns the place of a job in a pool, or 0 if it was not added. */
uint32_t places_find(const struct pool_places *places, size_t job, uint32_t pool);

#endif
