/* SPDX-License-Identifier: MIT */
#include "core/priority/arrays.h"

#include <stddef.h>

/* Where tasks started in the second of their submission, no pass had seen the array before, so the
 * age of the others begins when the array is below its limit again: once a task has ended. */
static bool started_at_once(const struct array_tasks *started)
{
    return started->start == started->eligible && started->end;
}

uint64_t array_ages_since(uint64_t submitted, uint64_t eligible, bool limited,
                          const struct array_tasks *started)
{
    if (eligible != ARRAY_AT_LIMIT && (!limited || !eligible || !started))
        return eligible;
    if (!started)
        return submitted;
    uint64_t since = started->eligible ? started->eligible : started->start;
    if (started_at_once(started) && eligible > since)
        since = started->end;
    return since < eligible ? since : eligible;
}
