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
 * of as an exact integral.  A step is one decay cycle.
 *
 * No database records the time of slurmctld's newest step.  Steps are one period apart, so the
 * newest step was at most one period ago.  The candidates are times in this period.  A first scan
 * computes the usage of some sample users for every candidate.  The chosen candidate is the time
 * that gives most sample users their known usage.  A second scan computes the usage of all
 * associations for this time.
 */

/*
 * The known range of an association's usage, including its descendants, in TRES-seconds.  Both
 * values are NAN if the usage is unknown.
 */
struct usage_bounds {
    double low, high;
};

struct stepped_usage {
    /* Set by the caller. */
    uint64_t period, newest; /* seconds between two steps; epoch time of the newest step, or 0 to
                              * search for it */
    bool ends_free;          /* see core/usage/steps.h */
    const struct ledger_state *ledger; /* fairmill's ledger */

    /* Set by stepped_usage_read().  Arrays are indexed by node of the tree, and usage is in
     * TRES-seconds. */
    double period_decay; /* fraction of usage that decays in one period */
    double *usage;       /* usage of the node itself, without its descendants */
    /* Largest possible error of the usage, because the times of steps are not exact.  Includes the
     * descendants. */
    double *blur;
    /* Upper limit of the usage that was charged at the newest step or later.  Includes the
     * descendants. */
    double *fresh;
    /* The part of `fresh` that was charged after the newest step, for jobs that have ended. */
    double *late;
    /* Usage that remains if slurmctld reset the association at the same time as fairmill's ledger.
     * NAN if fairmill's ledger has not reset the association. */
    double *after_reset;
    /* Bounds of after_reset if slurmctld's reset was up to one period earlier or later. */
    struct usage_bounds *around_reset;
};

/*
 * Computes the usage of the computation's source.  The caller sets period, newest, ends_free and
 * ledger.  `bounds` is indexed by node of the computation's tree.  Returns -1 on error; otherwise
 * the caller frees the result with stepped_usage_free().
 */
int stepped_usage_read(struct stepped_usage *stepped, const struct computation *computation,
                       const struct usage_bounds *bounds, struct error *err);
void stepped_usage_free(struct stepped_usage *stepped);

#endif
