/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_RATIO_H
#define FAIRMILL_CORE_FAIRSHARE_RATIO_H

#include "core/fairshare/algorithm.h"
#include "core/tree/tree.h"

/* How many times its share an association has used, by effective usage: UE / S of classic and PBS.
 *
 * With T the root's usage, u that of an association, s / L its part of its level's shares,
 *
 *     T UE / S = T UEparent / Sparent + u (L - s) / s / Sparent, right below the root u L / s
 *
 * which is a fraction of integers.  Ratios are computed with 128 bits and rounded once; where these
 * do not tell the nearest double, or which of two is larger, the fraction itself does.  So what is
 * equal has one double, whatever way it came about, and no double contradicts the order. */

/* Of a tree, by usage of each node or as the tree has it (NULL), which must stay. */
struct ratios *ratios_create(const struct fairshare *fairshare, const struct wide *usage);
void ratios_destroy(struct ratios *ratios);

/* UE / S of a node that is not the root, correctly rounded; NAN where S is 0.  All nodes are gone
 * through in the order of the tree. */
double ratio_next(struct ratios *ratios, uint32_t node);

/* Fill order[node] of all but the root (contest_decide()): the lowest ratio is ahead of all, who
 * has no share is behind. */
void ratios_order(const struct fairshare *fairshare, const struct wide *usage, uint32_t *order);

/* Likewise of classic, by the usage that the tree has and the release's rules. */
void ratios_order_by_rules(const struct fairshare *fairshare, uint32_t *order);

/* UE / S by node of the usage that the tree has, made once. */
const double *fairshare_ratios(struct fairshare *fairshare);

/* 2^-(ratio / dampening), 0 without shares. */
double factor_of_ratio(double ratio, double dampening);
/* The same of a node in classic and depth-oblivious, as the release's rules have it. */
double factor_by_rules(const struct fairshare *fairshare, uint32_t i, double ratio);
/* What jobs of an association have of it: its factor; but where `parent' shares lead to the root
 * slurmctld takes the root's, up to 25.05 too, where sshare does not (_get_fairshare_priority() of
 * its priority_multifactor.c). */
double factor_of_jobs(const struct algorithm *algorithm, const struct fairshare_options *options,
                      const struct node *node, const struct values *values);

/* Who is ahead of whom, and who is equal.
 *
 * Every association is sorted by a number of 128 bits with a known bound of its error.  Where two
 * of these are so near that the bound does not tell them apart, the integers behind them decide. */

struct contender {
    struct floating value;
    uint32_t node;
};

struct contest {
    struct contender *list;
    uint32_t count;
    bool higher_is_ahead;
    uint128 units; /* how many units of its mantissa a value is off, at most */
    bool unknown;  /* values say nothing: ask for every pair */
    /* Below 0, 0 or above it, as `one` is ahead of, equal to or behind `other`. */
    int (*compare)(const void *context, uint32_t one, uint32_t other);
    const void *context;
};

/* Sort the list, and set order[node] for each in it: 1 + how many are ahead of it.  All other nodes
 * but the root are behind them and equal. */
void contest_decide(struct contest *contest, const struct tree *tree, uint32_t *order);

#endif
