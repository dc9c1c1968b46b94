/* SPDX-License-Identifier: MIT */
#include "core/usage/slice.h"

void slice_cut(struct slice *slice, uint64_t end)
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
