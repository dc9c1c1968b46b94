/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_STEPS_H
#define FAIRMILL_CORE_USAGE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * slurmctld's decay in cycles (priority/multifactor: _apply_new_usage() and _decay_thread();
 * confirmed on live clusters).  The decay table replaces the cycles by continuous decay.
 *
 * Let D = 1 - 0.693 / half-life.  A decay cycle runs every `period` seconds.  The cycle first
 * multiplies all usage by D^period.  Then the cycle charges each running job for the d seconds
 * since the last cycle or since its start.  The charge is d * D^d seconds, as if all of these
 * seconds were d seconds old.  When a job ends, its last seconds are charged in the same way, and
 * the next cycle decays this charge by D^period.  But if slurmctld does not enforce limits, it
 * ignores jobs that end (_adjust_limit_usage() in acct_policy.c), and their last seconds are not
 * charged.
 *
 * The worth of a job is the part of its charges that remains now, in seconds.  It is a sum over
 * cycles, which is a geometric series:
 *
 *     d1 * D^(L-s) + P * D^P * D^(L-tn) * (1 - D^(P*m)) / (1 - D^P) + f * D^f * D^(L-u)
 *
 * Here the job runs from s to e, P is the period and L is the newest cycle.  The first cycle in
 * which the job runs is t1 = s + d1, and the last cycle is tn = t1 + P * m.  The last cycle before
 * e is u, and f = e - max(u, s).
 */

/*
 * Creates the tables for times from `oldest` to `now`.  Half-life and period are in seconds; a
 * half-life of 0 means no decay, and the period must not be 0.  Set `ends_free` if slurmctld does
 * not enforce limits.
 */
struct steps *steps_create(uint64_t half_life, uint64_t period, bool ends_free, uint64_t oldest,
                           uint64_t now);
void steps_destroy(struct steps *steps);

/*
 * Returns the worth of a job in seconds as of now.  The job ran from `start` to `end`, or still
 * runs if `end` is 0.  The newest cycle was at `newest`, at most one period ago.  `reset` is the
 * time of the last usage reset before `newest`, or 0.  The first cycle at or after a reset removes
 * all usage.
 */
double steps_worth(const struct steps *steps, uint64_t newest, uint64_t reset, uint64_t start,
                   uint64_t end);

/* Returns the part that remains of a second that is `age` seconds old. */
double steps_decay(const struct steps *steps, uint64_t age);

#endif
