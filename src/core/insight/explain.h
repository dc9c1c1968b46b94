/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_EXPLAIN_H
#define FAIRMILL_CORE_INSIGHT_EXPLAIN_H

#include "core/fairshare/fairshare.h"

/*
 * Explains why one association ranks higher than another, and finds the changes that would reverse
 * the order.
 *
 * This module contains no formulas.  The values come from a run, and a change is evaluated by
 * computing the values again.
 */

/* A tree with rolled-up usage and the values that were published for it. */
struct explain_input {
    const struct tree *tree;
    const struct fairshare_options *options;
    const struct algorithm *algorithm;
    const struct values *values;
    const uint32_t *order; /* published order (algorithm.h) */
    bool rounded;          /* usage comes from doubles, as stored in tables */
};

/* The order of two associations as the algorithm decides it (algorithm.h).  Under Fair Tree, an
 * account ranks higher than another account if its last user ranks higher than all users of the
 * other account. */
enum order {
    ORDER_BEHIND = -1,
    ORDER_TIED = 0, /* for accounts: their users are ranked as one list */
    ORDER_AHEAD = 1,
    ORDER_NONE, /* no rank or factor, for example an account without users under Fair Tree */
};
/* Returns the order of `one` relative to `other` in the published values. */
enum order order_of(const struct explain_input *input, uint32_t one, uint32_t other);

/* The point at which the paths from the root to two nodes diverge. */
struct divergence {
    uint32_t ancestor;   /* lowest common ancestor along fairshare parents */
    uint32_t one, other; /* the members of the ancestor's list on the two paths */
    /* The members that decide the order.  They differ from `one` and `other` if Fair Tree merges
     * the lists of tied accounts.  In that case, they are the members of the merged list. */
    uint32_t decides_one, decides_other;
    uint32_t merged; /* levels from the ancestor's list down to the merged list */
};
/* Returns true if two members of a list are tied under Fair Tree.  Always false under other
 * algorithms. */
bool are_equals(const struct explain_input *input, uint32_t one, uint32_t other);

/* The smallest change of one kind to one node that lets the lower association rank higher.  Usage
 * is in decayed TRES-seconds at the time of the run. */
enum reversal_kind { MORE_SHARES, FEWER_SHARES, MORE_USAGE, LESS_USAGE };
struct reversal {
    enum reversal_kind change;
    uint32_t node; /* the node with changed shares or usage */
    /* The smallest whole number of shares or TRES-seconds; 0 if no number is sufficient. */
    uint64_t amount;
    uint64_t most; /* largest possible amount */
};

#define REVERSALS_AT_MOST 16
struct explanation {
    uint32_t one, other; /* `other` is NO_NODE if only one association was requested */
    enum order order;    /* order of `one` relative to `other` */
    struct divergence divergence;
    /* The node that ranks lower, and the node that ranks higher.  Each reversal swaps the order of
     * the two nodes.  If the two nodes are tied, `behind` is `one`. */
    uint32_t behind, ahead;
    struct reversal reversals[REVERSALS_AT_MOST];
    uint32_t reversal_count;
};
/* Fills `explanation`.  Returns false if `other` is an ancestor or a descendant of `one`, or the
 * same node. */
bool explain(const struct explain_input *input, uint32_t one, uint32_t other,
             struct explanation *explanation);

#endif
