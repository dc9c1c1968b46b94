/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_STEPPED_USAGE_H
#define FAIRMILL_COMPUTE_STEPPED_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct computation;
struct error;
struct ledger_state;

/*
 * Computes the usage of a cluster's jobs in steps, as slurmctld does (core/usage/steps.h), instead
 * of as an exact integral.
 *
 * No database records the time of slurmctld's newest step.  Steps are one period apart, so there
 * are only as many candidates as a period has seconds.  The candidate is chosen with which the most
 * of some sample users have their known usage.  So a second scan suffices for any number of jobs.
 */

/*
 * The known range of an association's usage, including its descendants, in TRES-seconds.  NAN if
 * unknown.
 */
struct usage_bounds {
    double low, high;
};

struct stepped_usage {
    uint64_t period, newest; /* both in seconds; `newest` is the time of the newest step, or 0 to
                              * search for it */
    bool ends_free;          /* see core/usage/steps.h */
    const struct ledger_state *ledger; /* fairmill's */
    double period_decay;               /* set: fraction of usage that decays in a period */
    /* Set, by node of the tree: */
    double *usage; /* charged to the node itself, in TRES-seconds */
    double *blur;  /* largest error from inexact step times, descendants included */
    double *fresh; /* upper limit of the usage charged at the newest step and since, descendants
                    * included */
    double *late;  /* part of `fresh` that was charged since then for jobs that have ended */
    /* For associations that fairmill's ledger has reset: the remaining usage if slurmctld forgot
     * older usage at the same time.  The bounds apply if slurmctld did so up to a period earlier or
     * later.  For all other associations, after_reset is NAN. */
    double *after_reset;
    struct usage_bounds *around_reset;
};

/*
 * Computes the usage of the computation's source.  The caller sets period, newest, ends_free and
 * ledger.  `bounds` are by node of the computation's tree.  Returns -1 on error; otherwise the
 * caller frees the result with stepped_usage_free().
 */
int stepped_usage_read(struct stepped_usage *stepped, const struct computation *computation,
                       const struct usage_bounds *bounds, struct error *err);
void stepped_usage_free(struct stepped_usage *stepped);

#endif
