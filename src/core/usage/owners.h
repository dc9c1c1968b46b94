/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_OWNERS_H
#define FAIRMILL_CORE_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

/* Whose usage it is what an association used, by time.  Nearly all have no owner: it is their own
 * always. */
struct owner {
    uint64_t association; /* what was used before `until` is this one's */
    uint64_t until;
    const struct owner *later; /* whose it is from then on; NULL: the association's own */
};

struct owners *owners_create(void);
void owners_destroy(struct owners *owners);
/* What `association` used before `until`, and not before an earlier `until` of it, is `owner`'s.
 * Those of an association are added by ascending `until`. */
void owners_add(struct owners *owners, uint64_t association, uint64_t until, uint64_t owner);
/* NULL: it has none.  `owners` may be NULL, too. */
const struct owner *owners_find(const struct owners *owners, uint64_t association);
/* The association that has owners at a place, from 0 on; false behind the last. */
bool owners_at(const struct owners *owners, uint32_t place, uint64_t *association);
/* A hash of what they say of the time before `reach`; 0 where that is nothing.  Where it differs,
 * sums of that time are somebody else's. */
uint64_t owners_hash(const struct owners *owners, uint64_t reach);

#endif
