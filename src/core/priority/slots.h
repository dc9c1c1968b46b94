/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_SLOTS_H
#define FAIRMILL_CORE_PRIORITY_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slots in which jobs age while they wait: Slurm's accrue limits, replayed.
 *
 * Each job that ages counts in some counters, until it starts or is cancelled.  One of them bounds
 * it: it begins to age once that counter is below its limit, those that stand first in slurmctld's
 * list of jobs before others.  The other counters may go beyond their limits by that. */

/* Jobs that count, and are bounded, alike. */
struct slots_owner {
    const uint32_t *counters; /* in which they count, each once */
    uint32_t count;
    uint32_t bound; /* one of them */
};

#define SLOTS_NO_REST UINT32_MAX

/* A job that waits from `since` until `until`, UINT64_MAX where it waits still. */
struct slots_wait {
    uint64_t since, until;
    uint64_t place;   /* in slurmctld's list; far below UINT64_MAX */
    uint64_t accrues; /* what slots_replay() finds: when it begins to age; 0: it never did */
    uint32_t owner;
    /* The rest of an array whose waiting tasks are not among the waits: it has a task for every
     * slot that is free when it is its turn. */
    bool is_rest;
    /* The number of the wait that is the rest of the same array, for itself, too; or SLOTS_NO_REST.
     * When one of them has got a slot, that goes to the end of the list. */
    uint32_t rest;
    uint64_t pass; /* of a rest: that which made it eligible; it does not move before */
    /* The replay's: how many slots it has; where it stands, and from which instant on elsewhere. */
    uint32_t slots;
    uint64_t at, moves_at;
};

struct slots {
    const struct slots_owner *owners;
    const uint32_t *limits; /* by counter */
    uint32_t counter_count;
    struct slots_wait *waits;
    size_t count;
};

/* Fill in when each wait accrues.  At each instant, who starts or is cancelled makes room first. */
void slots_replay(const struct slots *slots);

#endif
