/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_SPLIT_H
#define FAIRMILL_COMPUTE_SPLIT_H

#include "compute/charge.h"

struct usage_sums;

/* Charges of one reading, added up for several instants.
 *
 * The reading is that of the last instant.  A row that has ended by one of them is charged the same
 * at it and at all that follow, if nothing but `now` differs between these: so it is added once, to
 * the first of them.  At an instant at which it was still at work it is charged anew, up to then,
 * and counts for that instant alone.  What has been used by an instant is the sum of what was added
 * to it and to all before it, and of what counts for it alone. */
struct split_instant {
    const struct clock *clock;
    struct usage_sums *ended, *working;
    struct charger charger; /* of the pass */
};
struct split_sink {
    struct charge_sink sink;
    struct split *split;
};
struct split {
    struct split_sink slices, rows; /* take the slices, and the rows, of a pass */
    struct split_instant *instants; /* ascending; the last one is that of the reading */
    size_t count;
};
/* The instants' clocks are set.  It stays where it is, and is to be freed with split_free(). */
void split_begin(struct split *split, struct split_instant *instants, size_t count);
void split_free(struct split *split);
/* Rows are charged by this charger from now on, but for the instant. */
void split_begin_pass(struct split *split, const struct charger *charger);

#endif
