/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_RESOLVED_STATE_H
#define FAIRMILL_CORE_TREE_RESOLVED_STATE_H

#include "core/tree/timeline.h"

/* The most likely state of an association at the time history->now. */

enum { DOUBT_EXISTENCE = 1, DOUBT_SHARES = 2, DOUBT_PARENT = 4 };

struct resolved_state {
    bool lives;             /* it existed */
    struct association row; /* names, shares and parent; `deleted` is set if it does not exist */
    bool named;             /* its names are known */
    unsigned doubts;        /* uncertain values; `row` has the most likely values */
    unsigned alike; /* uncertain values that are the same at both ends of the timeline's interval */
    enum evidence_source told_existence, told_shares, told_parent;
};

struct resolved_state resolved_state_at(const struct timeline *timeline,
                                        const struct subject *subject);

#endif
