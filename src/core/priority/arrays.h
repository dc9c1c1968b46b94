/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_ARRAYS_H
#define FAIRMILL_CORE_PRIORITY_ARRAYS_H

#include <stdbool.h>
#include <stdint.h>

/* Since when the tasks of an array age that still wait.
 *
 * All tasks that were submitted together age from the same instant on.  While as many of them run
 * as may (`--array=0-9%2`), slurmctld takes their eligible time away from those that wait, and
 * gives them a later one once a task has ended; slurmdbd is told both.  But the age goes on. */

/* The eligible time that slurmdbd holds while an array is at its limit. */
#define ARRAY_AT_LIMIT 0xffffffffu

/* The earliest instants of those tasks that have started; eligible 0: not known. */
struct array_tasks {
    uint64_t eligible, start;
};

/* Whether siblings tell the age of a task that waits: it became eligible after its submission, or
 * is at its array's limit.  `limited`: only so many tasks may run at a time. */
bool array_hangs_on_siblings(uint64_t submitted, uint64_t eligible, bool limited);

/* `started` NULL: none of which we know. */
uint64_t array_ages_since(uint64_t submitted, uint64_t eligible, bool limited,
                          const struct array_tasks *started);

#endif
