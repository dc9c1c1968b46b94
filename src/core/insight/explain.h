/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_EXPLAIN_H
#define FAIRMILL_CORE_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/fairshare/fairshare.h"

/* Why one association is ahead of another, and what would reverse that.
 *
 * No formula is in here: values are those that a run computed, and what would be is found by
 * computing again with something changed. */

/* A tree whose usage is rolled up, and the values that were published of it. */
struct explain_input {
    const struct tree *tree;
    const struct fairshare_options *options;
    const struct algorithm *algorithm;
    const struct values *values;
    bool rounded; /* usage is not exact, but good to a double */
};

/* Who comes first.  An association is ahead where its factor is the larger one; under Fair Tree an
 * account is where its last user ranks above all users of the other. */
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
    /* Under Fair Tree equal accounts are one: their lists are merged.  The members that decide, in
     * that list; otherwise the same as above. */
    uint32_t decides_one, decides_other;
    uint32_t merged; /* how many lists down that is; 0 for the list of the ancestor */
};
/* False where one of them is above the other, or both are the same. */
bool divergence_find(const struct explain_input *input, uint32_t one, uint32_t other,
                     struct divergence *divergence);
/* Whether Fair Tree has the two members of a list as equals. */
bool are_equals(const struct explain_input *input, uint32_t one, uint32_t other);

enum reversal_kind { MORE_SHARES, FEWER_SHARES, MORE_USAGE, LESS_USAGE };
struct reversal {
    enum reversal_kind change;
    uint32_t node;   /* whose shares or usage it is */
    uint64_t amount; /* the least whole number of shares or TRES-seconds that does it; 0: none */
    uint64_t most;   /* the largest there can be */
};
/* The least change after which `behind` is ahead of `ahead`.  reversal->change and reversal->node
 * are the question.  Usage that is added or taken away is worth that much now, as of the run. */
void reversal_find(const struct explain_input *input, uint32_t behind, uint32_t ahead,
                   struct reversal *reversal);

/* All of it, about one association and perhaps another. */
#define REVERSALS_AT_MOST 16
struct explanation {
    uint32_t one, other; /* NO_NODE: only one was asked about */
    enum order order;    /* of one to other */
    struct divergence divergence;
    uint32_t behind,
        ahead; /* those of the reversals: who is behind, or `one` where they are tied */
    struct reversal reversals[REVERSALS_AT_MOST];
    uint32_t reversal_count;
};
/* False where `other` is above `one`, below it or the same. */
bool explain(const struct explain_input *input, uint32_t one, uint32_t other,
             struct explanation *explanation);

#endif
