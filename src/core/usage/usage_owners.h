/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_USAGE_OWNERS_H
#define FAIRMILL_CORE_USAGE_USAGE_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/usage/usage.h"

/*
 * Usage owners: the associations to which the usage of another association is attributed, each for
 * a time interval.  An association without an entry owns its usage, as nearly all associations do.
 */
struct usage_owner {
    uint64_t association; /* owns the usage before `until` */
    uint64_t until;
    const struct usage_owner *later; /* owner from `until` on; NULL for the association itself */
};

struct usage_owners *usage_owners_create(void);
void usage_owners_destroy(struct usage_owners *owners);
/*
 * Makes `owner` the owner of the usage of `association` before `until`.  If the same association
 * was added earlier, the interval begins at its previous `until`.  Call it in ascending order of
 * `until` for each association.
 */
void usage_owners_add(struct usage_owners *owners, uint64_t association, uint64_t until,
                      uint64_t owner);
/* Returns the first owner of the association, or NULL.  `owners` may be NULL. */
const struct usage_owner *usage_owners_find(const struct usage_owners *owners,
                                            uint64_t association);
/*
 * Gets the association with owners at index `place`, from 0 on.  Returns false if `place` is too
 * large.
 */
bool usage_owners_at(const struct usage_owners *owners, uint32_t place, uint64_t *association);
/*
 * Returns a hash of the usage owners before the time `reach`, or 0 if there are none.  If the hash
 * changes, stored sums up to that time were charged to other owners.
 */
uint64_t usage_owners_hash(const struct usage_owners *owners, uint64_t reach);

/*
 * A charge interval: a part of a row's time with one charge rate and one usage owner.  The
 * intervals of a row are consecutive and cover all of its time; nearly every row has only one.
 * Each interval is charged separately.  Because sums are exact, the cuts themselves do not change
 * the total.
 */
struct slice {
    uint64_t start, end;             /* empty if end <= start */
    uint64_t association;            /* the usage owner */
    const struct charge_rate *rate;  /* applies to the interval */
    uint64_t own;                    /* the association of the job */
    const struct usage_owner *owner; /* owner from `start` on; NULL for the association itself */
};

/*
 * Completes an interval whose `start` and `own` are set.  `rate` and `owner` must be elements of
 * their chains from which the elements at `start` can be reached.  Advances both to the elements
 * that apply at `start`, and sets `association`.  Sets `interval->end` to the time at which either
 * changes next, but at most to `end`.
 */
void charge_interval_cut(struct slice *interval, uint64_t end);

/*
 * Returns the first interval of the time from `start` to `end`.  `rate` and `owner` are the first
 * of their chains; `owner` may be NULL.  Inline, like the next function, because it is called for
 * every job row.
 */
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

/* Advances to the next interval before `end`.  Returns false after the last one. */
static inline bool charge_interval_next(struct slice *interval, uint64_t end)
{
    if (interval->end >= end)
        return false;
    interval->start = interval->end;
    charge_interval_cut(interval, end);
    return true;
}

#endif
