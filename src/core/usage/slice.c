/* SPDX-License-Identifier: MIT */
#include "core/usage/slice.h"

/* Cut it where something else begins to hold. */
static void find_end(struct slice *slice, uint64_t end)
{
    slice->tariff = tariff_at(slice->tariff, slice->start);
    while (slice->owner && slice->owner->until <= slice->start)
        slice->owner = slice->owner->later;
    slice->association = slice->owner ? slice->owner->association : slice->own;
    slice->end = end;
    if (slice->tariff->later && slice->tariff->later_from < slice->end)
        slice->end = slice->tariff->later_from;
    if (slice->owner && slice->owner->until < slice->end)
        slice->end = slice->owner->until;
}

struct slice slice_first(uint64_t start, uint64_t end, const struct tariff *tariff,
                         uint64_t association, const struct owner *owner)
{
    struct slice slice = { .start = start,
                           .end = end,
                           .association = association,
                           .tariff = tariff,
                           .own = association,
                           .owner = owner };
    if (tariff->later || owner)
        find_end(&slice, end);
    return slice;
}

void slice_move(struct slice *slice, uint64_t end)
{
    slice->start = slice->end;
    find_end(slice, end);
}
