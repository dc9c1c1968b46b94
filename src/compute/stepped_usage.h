/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_STEPPED_USAGE_H
#define FAIRMILL_COMPUTE_STEPPED_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct computation;
struct error;
struct ledger_state;

/* The usage of a cluster's jobs as slurmctld has it (core/usage/steps.h), instead of the exact
 * integral.
 *
 * When its newest step was is in no database.  Steps are a period apart, so there are only as many
 * answers as a period has seconds; the one is taken with which most of some users have the usage
 * that is known of them, so that a second reading suffices however many jobs there are. */

/* What is known of an association's usage, all below included: NAN where nothing is. */
struct usage_bounds {
    double low, high;
};

struct stepped_usage {
    uint64_t period, newest;           /* seconds; the instant of the newest step, 0: to be found */
    bool ends_free;                    /* as in core/usage/steps.h */
    const struct ledger_state *ledger; /* ours */
    double period_decay;               /* the part of usage that decays in a period */
    /* By node of the tree: */
    double *usage; /* charged to itself, TRES-seconds */
    double *blur;  /* how far it may be off, all below included, as steps are up to a second off */
    double *fresh; /* the most of it that was charged at the newest step and since, likewise */
    double *late;  /* of that what was charged since, of jobs that ended */
    /* Of associations that our ledger has reset: what is left if slurmctld forgot them at that
     * time, and the bounds of it if that was up to a period earlier or later.  NAN for all others.
     */
    double *after_reset;
    struct usage_bounds *around_reset;
};

/* Of the computation's source, whose settings say what a job is charged; `bounds` are by node of
 * its tree.  The answer is to be freed with stepped_usage_free(). */
int stepped_usage_read(struct stepped_usage *stepped, const struct computation *computation,
                       const struct usage_bounds *bounds, struct error *err);
void stepped_usage_free(struct stepped_usage *stepped);

#endif
