/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_ARRAYS_H
#define FAIRMILL_CORE_PRIORITY_ARRAYS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Determines the time from which pending tasks of an array age.
 *
 * All tasks that were submitted together age from the same time on.  An array may limit its running
 * tasks (`--array=0-9%2`).  If an array is at this limit, slurmctld clears the eligible time of the
 * array's pending tasks.  When a task ends, slurmctld sets a later eligible time.  slurmctld sends
 * both changes to slurmdbd, but the age of the tasks continues to grow.
 */

/* The eligible time in slurmdbd while an array is at its limit. */
#define ARRAY_AT_LIMIT 0xffffffffu

/* The earliest times of the tasks that have started.  `eligible` is 0 if unknown. */
struct array_tasks {
    uint64_t eligible, start;
};

/* Returns true if the age of a pending task depends on the tasks of the same array.  This is the
 * case if the task became eligible after its submission, or if its array is at the limit.
 * `limited` is true if the array limits its running tasks. */
bool array_hangs_on_siblings(uint64_t submitted, uint64_t eligible, bool limited);

/* Returns the time from which a pending task ages.  `started` is NULL if no started task is
 * known. */
uint64_t array_ages_since(uint64_t submitted, uint64_t eligible, bool limited,
                          const struct array_tasks *started);

#endif
