/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_SLOTS_H
#define FAIRMILL_CORE_PRIORITY_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A replay of Slurm's accrue limits: slots in which pending jobs age.
 *
 * Each job that ages counts in several counters until it starts or is cancelled.  One of the
 * counters bounds it: the job begins to age once that counter is below its limit.  Jobs that come
 * first in slurmctld's list of jobs get slots first.  The other counters may therefore exceed their
 * limits.
 */

/* Jobs that have the same counters and the same bound. */
struct slots_owner {
    const uint32_t *counters; /* in which the jobs count, each once */
    uint32_t count;
    uint32_t bound; /* one of `counters` */
};

#define SLOTS_NO_REST UINT32_MAX

/* A job that waits from `since` until `until`; UINT64_MAX if it still waits. */
struct slots_wait {
    uint64_t since, until;
    uint64_t place;   /* position in slurmctld's list; far below UINT64_MAX */
    uint64_t accrues; /* result of slots_replay(): when it begins to age, or 0 if never */
    uint32_t owner;
    /* The rest of an array whose pending tasks are not separate waits.  It fills every slot that is
     * free when it is its turn. */
    bool is_rest;
    /* Index of the wait that is the rest of the same array (for the rest, its own index), or
     * SLOTS_NO_REST.  When a task of the array gets a slot, the rest moves to the end of the list.
     */
    uint32_t rest;
    uint64_t pass; /* of a rest: time of the pass that made it eligible; it does not move earlier */
    /* Used by the replay: the number of slots taken, the current position, and the time of the next
     * move. */
    uint32_t slots;
    uint64_t at, moves_at;
};

struct slots {
    const struct slots_owner *owners;
    const uint32_t *limits; /* indexed by counter */
    uint32_t counter_count;
    struct slots_wait *waits;
    size_t count;
};

/* Sets `accrues` of each wait.  At each time, jobs that start or are cancelled free their slots
 * first. */
void slots_replay(const struct slots *slots);

#endif
