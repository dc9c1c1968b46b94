/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_RESOLVED_STATE_H
#define FAIRMILL_CORE_TREE_RESOLVED_STATE_H

#include "core/tree/timeline.h"

/* What a timeline tells of an association at past->now. */

enum { DOUBT_EXISTENCE = 1, DOUBT_SHARES = 2, DOUBT_PARENT = 4 };

struct resolved_state {
    bool lives;
    struct association row; /* names, shares and parent; deleted where it does not live */
    bool named;             /* whether anything names it */
    unsigned doubts;        /* for these the row has the most likely value */
    unsigned alike;         /* these are in doubt, but were so before and after */
    enum evidence_source told_existence, told_shares, told_parent;
};

struct resolved_state resolved_state_at(const struct timeline *timeline,
                                        const struct subject *subject);

#endif
