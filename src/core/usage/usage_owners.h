/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_USAGE_OWNERS_H
#define FAIRMILL_CORE_USAGE_USAGE_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/usage/usage.h"

/* Whose usage it is what an association used, by time.  Nearly all have no owner: it is their own
 * always. */
struct usage_owner {
    uint64_t association; /* what was used before `until` is this one's */
    uint64_t until;
    const struct usage_owner *later; /* whose it is from then on; NULL: the association's own */
};

struct usage_owners *usage_owners_create(void);
void usage_owners_destroy(struct usage_owners *owners);
/* What `association` used before `until`, and not before an earlier `until` of it, is `owner`'s.
 * Those of an association are added by ascending `until`. */
void usage_owners_add(struct usage_owners *owners, uint64_t association, uint64_t until,
                      uint64_t owner);
/* NULL: it has none.  `owners` may be NULL, too. */
const struct usage_owner *usage_owners_find(const struct usage_owners *owners,
                                            uint64_t association);
/* The association that has owners at a place, from 0 on; false behind the last. */
bool usage_owners_at(const struct usage_owners *owners, uint32_t place, uint64_t *association);
/* A hash of what they say of the time before `reach`; 0 where that is nothing.  Where it differs,
 * sums of that time are somebody else's. */
uint64_t usage_owners_hash(const struct usage_owners *owners, uint64_t reach);

/* A part of the time that a row may be charged for, in which one tariff holds and whose usage it is
 * does not change.  The slices of a row follow each other and are the whole time; nearly every row
 * has one.  Each is charged by itself, and as sums are exact, a cut by itself changes nothing. */
struct slice {
    uint64_t start, end;             /* no second where end <= start */
    uint64_t association;            /* whose usage it is */
    const struct charge_rate *rate;  /* that holds */
    uint64_t own;                    /* the association that used it */
    const struct usage_owner *owner; /* of what it used since `start`; NULL: itself */
};

/* Cut it where something else begins to hold than at its start, or at `end`. */
void charge_interval_cut(struct slice *interval, uint64_t end);

/* The first slice of the time from `start` to `end`.  `tariff` is the first of its chain, `owner`
 * likewise (NULL: none).  Inline, as the next one: every job row comes here. */
static inline struct slice charge_interval_first(uint64_t start, uint64_t end,
                                                 const struct charge_rate *rate,
                                                 uint64_t association,
                                                 const struct usage_owner *owner)
{
    struct slice interval = { start, end, association, rate, association, owner };
    if (rate->later || owner)
        charge_interval_cut(&interval, end);
    return interval;
}

/* Make it the next one of the time up to `end`; false where it is the last. */
static inline bool charge_interval_next(struct slice *interval, uint64_t end)
{
    if (interval->end >= end)
        return false;
    interval->start = interval->end;
    charge_interval_cut(interval, end);
    return true;
}

#endif
