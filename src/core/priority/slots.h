/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_SLOTS_H
#define FAIRMILL_CORE_PRIORITY_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A simulation of Slurm's accrue limits: pending jobs age only while they have a slot.
 *
 * Each job that ages takes a slot in several counters until it starts or is cancelled.  Only one of
 * these counters bounds the job: the job begins to age when that counter is below its limit.  The
 * job's other counters are not checked and may therefore exceed their limits.  Jobs that come first
 * in slurmctld's list of jobs get slots first.
 */

/* Jobs that have the same counters and the same bound. */
struct slots_owner {
    const uint32_t *counters; /* in which the jobs take slots, without duplicates */
    uint32_t count;
    uint32_t bound; /* one of `counters` */
};

#define SLOTS_NO_REST UINT32_MAX

/* A job that waits from `since` until `until`.  `until` is UINT64_MAX if the job still waits. */
struct slots_wait {
    uint64_t since, until;
    uint64_t place;   /* position in slurmctld's list; far below UINT64_MAX */
    uint64_t accrues; /* result of slots_replay(): time when the job begins to age, or 0 */
    uint32_t owner;
    /* True for the wait of an array's remaining tasks, which are not separate waits.  In its turn,
     * this wait takes all free slots. */
    bool is_rest;
    /* Index of the wait with `is_rest` of the same array (which may be this wait), or
     * SLOTS_NO_REST.  When a task of the array gets a slot, the wait with `is_rest` moves to the
     * end of the list. */
    uint32_t rest;
    /* With `is_rest`, the time of the scheduling pass that made this wait eligible.  The wait moves
     * only after this time. */
    uint64_t pass;
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

/* Sets `accrues` of each wait.  At each time, first frees the slots of jobs that start or are
 * cancelled, then hands out slots. */
void slots_replay(const struct slots *slots);

#endif
