/* SPDX-License-Identifier: MIT */
#include "core/priority/arrays.h"

bool array_hangs_on_siblings(uint64_t submitted, uint64_t eligible, bool limited)
{
    return eligible > submitted && (eligible == ARRAY_AT_LIMIT || limited);
}

uint64_t array_ages_since(uint64_t submitted, uint64_t eligible, bool limited,
                          const struct array_tasks *started)
{
    if (eligible != ARRAY_AT_LIMIT && (!limited || !eligible || !started))
        return eligible;
    if (!started)
        return submitted;
    uint64_t since = started->eligible ? started->eligible : started->start;
    return since < eligible ? since : eligible;
}
