/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_EXPLAIN_H
#define FAIRMILL_CORE_INSIGHT_EXPLAIN_H

#include "core/fairshare/fairshare.h"

/* Why one association is ahead of another, and what would reverse that.
 *
 * There is no formula here.  Values are those that a run computed, and a change is judged by
 * computing again with it. */

/* A tree whose usage is rolled up, and the values that were published of it. */
struct explain_input {
    const struct tree *tree;
    const struct fairshare_options *options;
    const struct algorithm *algorithm;
    const struct values *values;
    const uint32_t *order; /* likewise: 1 + how many are ahead; 0: has no factor */
    bool rounded;          /* usage comes from doubles, as tables have it */
};

/* An association is ahead of another one as the algorithm decides (algorithm.h).  Under
 * Fair Tree an account is ahead if its last user ranks above all users of the other one. */
enum order {
    ORDER_BEHIND = -1,
    ORDER_TIED = 0, /* of accounts: their users are ranked as one list */
    ORDER_AHEAD = 1,
    ORDER_NONE, /* Fair Tree has no rank for an account without users; a factor may be NULL */
};
/* How `one` stands to `other` in the values that were published. */
enum order order_of(const struct explain_input *input, uint32_t one, uint32_t other);

/* Where the paths from the root to two nodes part. */
struct divergence {
    uint32_t ancestor;   /* the first common fairshare parent */
    uint32_t one, other; /* the members of its list that lead to them */
    /* The members that decide.  They differ from the two above where Fair Tree merges the lists of
     * equal accounts: then they are in the merged list. */
    uint32_t decides_one, decides_other;
    uint32_t merged; /* how many lists below the ancestor's that is */
};
/* Whether two members of a list are equal to Fair Tree. */
bool are_equals(const struct explain_input *input, uint32_t one, uint32_t other);

/* The least change of a kind and of a node that puts the one that is behind ahead.  Usage is in
 * TRES-seconds of the instant of the run. */
enum reversal_kind { MORE_SHARES, FEWER_SHARES, MORE_USAGE, LESS_USAGE };
struct reversal {
    enum reversal_kind change;
    uint32_t node;   /* whose shares or usage it is */
    uint64_t amount; /* the least whole number of shares or TRES-seconds; 0: no number does it */
    uint64_t most;   /* the largest there can be */
};

#define REVERSALS_AT_MOST 16
struct explanation {
    uint32_t one, other; /* NO_NODE: only one was asked about */
    enum order order;    /* of one to other */
    struct divergence divergence;
    /* Each reversal puts `behind` ahead; of tied associations `behind` is `one`. */
    uint32_t behind, ahead;
    struct reversal reversals[REVERSALS_AT_MOST];
    uint32_t reversal_count;
};
/* False where `other` is above `one`, below it or the same. */
bool explain(const struct explain_input *input, uint32_t one, uint32_t other,
             struct explanation *explanation);

#endif
