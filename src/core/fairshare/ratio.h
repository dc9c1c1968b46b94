/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_RATIO_H
#define FAIRMILL_CORE_FAIRSHARE_RATIO_H

#include "core/fairshare/algorithm.h"
#include "core/tree/tree.h"

/*
 * Computes UE / S of classic and PBS: the effective usage of an association as a multiple of its
 * share.
 *
 * Let T be the root's usage, u an association's usage and s / L its part of its level's shares.
 * Then
 *
 *     T * UE / S = T * UEparent / Sparent + u * (L - s) / (s * Sparent)
 *     directly below the root, T * UE / S = u * L / s
 *
 * This is a fraction of integers.  Ratios are computed with 128 bits and rounded once.  If 128 bits
 * do not determine the nearest double, or the order of two ratios, the exact fraction is used.
 * Therefore equal ratios have equal doubles, even if they come from different numbers, and the
 * doubles never contradict the order.
 */

/* Creates the state of a computation of ratios; call ratio_next() for the results.  `usage` is
 * indexed by node; NULL means the tree's usage.  Keeps references to both arguments.  The caller
 * frees it with ratios_destroy(), which accepts NULL. */
struct ratios *ratios_create(const struct fairshare *fairshare, const struct wide *usage);
void ratios_destroy(struct ratios *ratios);

/* Returns UE / S of a node other than the root, correctly rounded, or NAN if S is 0.  Must be
 * called for all nodes in tree order. */
double ratio_next(struct ratios *ratios, uint32_t node);

/* Sets order[node] of all nodes but the root (contest_decide()).  The lowest ratio ranks highest;
 * nodes without shares rank lowest.  `usage` is as for ratios_create(). */
void ratios_order(const struct fairshare *fairshare, const struct wide *usage, uint32_t *order);

/* Sets order[node] for the algorithm classic, as ratios_order() does with the tree's usage.
 * Applies the release's rules. */
void ratios_order_by_rules(const struct fairshare *fairshare, uint32_t *order);

/* Returns UE / S, indexed by node, computed from the tree's usage.  Computes it once; `fairshare`
 * owns the array. */
const double *fairshare_ratios(struct fairshare *fairshare);

/* Returns 2^-(ratio / dampening), or 0 if `ratio` is NAN. */
double factor_of_ratio(double ratio, double dampening);
/* Returns the factor of node `i` in classic or depth-oblivious, with the release's rules.  Returns
 * NAN if has_no_factor() is true. */
double factor_by_rules(const struct fairshare *fairshare, uint32_t i, double ratio);
/* Returns the factor that slurmctld uses for an association's jobs.  This is the association's own
 * factor, unless `parent` shares lead to the root.  In that case, slurmctld uses the root's factor,
 * although sshare up to 25.05 does not show it (_get_fairshare_priority() in Slurm's
 * priority_multifactor.c). */
double factor_of_jobs(const struct algorithm *algorithm, const struct fairshare_options *options,
                      const struct node *node, const struct values *values);

/*
 * Determines the order of associations.
 *
 * Associations are sorted by numbers of 128 bits with a known error bound.  If two numbers are too
 * close for this bound, the exact integers decide.
 */

struct contender {
    struct floating value;
    uint32_t node;
};

struct contest {
    struct contender *list;
    uint32_t count;
    bool higher_is_ahead;
    uint128 units; /* maximum error of a value, in units of its mantissa */
    bool unknown;  /* values are unusable: compare every pair exactly */
    /* Returns a negative number if `one` ranks higher than `other`, 0 if they are tied, or a
     * positive number if `other` ranks higher. */
    int (*compare)(const void *context, uint32_t one, uint32_t other);
    const void *context;
};

/* Sorts the list and sets order[node] to 1 + the number of nodes that rank higher.  All nodes that
 * are not in the list, except the root, rank lowest and are tied. */
void contest_decide(struct contest *contest, const struct tree *tree, uint32_t *order);

#endif
