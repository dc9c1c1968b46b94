/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_SLICE_H
#define FAIRMILL_CORE_SLICE_H

#include "core/usage/owners.h"
#include "core/usage/usage.h"

/* A part of the time that a row may be charged for, in which one tariff holds and whose usage it is
 * does not change.  The slices of a row follow each other and are the whole time; nearly every row
 * has one.  Each is charged by itself, and as sums are exact, a cut by itself changes nothing. */
struct slice {
    uint64_t start, end;         /* no second where end <= start */
    uint64_t association;        /* whose usage it is */
    const struct tariff *tariff; /* that holds */
    uint64_t own;                /* the association that used it */
    const struct owner *owner;   /* of what it used since `start`; NULL: itself */
};

/* The first slice of the time from `start` to `end`.  `tariff` is the first of its chain, `owner`
 * likewise (NULL: none). */
struct slice slice_first(uint64_t start, uint64_t end, const struct tariff *tariff,
                         uint64_t association, const struct owner *owner);
/* Make it the next one of the time up to `end`; false where it is the last.  Inline because every
 * job row comes here. */
void slice_move(struct slice *slice, uint64_t end);
static inline bool slice_next(struct slice *slice, uint64_t end)
{
    if (slice->end >= end)
        return false;
    slice_move(slice, end);
    return true;
}

#endif
