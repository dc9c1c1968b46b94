/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_STEPS_H
#define FAIRMILL_CORE_USAGE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * slurmctld's decay in cycles, which the decay table approximates by its limit
 * (priority/multifactor: _apply_new_usage() and _decay_thread(); confirmed on live clusters).
 *
 * Let D = 1 - 0.693 / half-life.  A decay cycle runs every `period` seconds.  It multiplies all
 * usage by D^period.  Then it charges each running job for the d seconds since the last cycle or
 * since its start.  It counts them as d D^d seconds, as if all of them were d seconds old.  When a
 * job ends, its last seconds are charged in the same way, and the next cycle decays that by
 * D^period.  But if slurmctld does not enforce limits, it ignores jobs that end
 * (_adjust_limit_usage() in acct_policy.c), and those seconds are free.
 *
 * So a job's worth is a sum over cycles, which is geometric:
 *
 *     d1 D^(L-s) + P D^P D^(L-tn) (1 - D^(P m)) / (1 - D^P) + f D^f D^(L-u)
 *
 * for a job from s to e.  L is the newest cycle, t1 = s + d1 the first cycle in which the job ran,
 * and tn = t1 + P m the last one. u is the last cycle before e, and f = e - max(u, s).
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
 * Returns the worth of a job in seconds as of now.  It ran from `start` to `end`, or still runs if
 * `end` is 0.  The newest cycle was at `newest`, at most one period ago.  `reset` is the last usage
 * reset before that, or 0: the first cycle at or after it removes all usage.
 */
double steps_worth(const struct steps *steps, uint64_t newest, uint64_t reset, uint64_t start,
                   uint64_t end);

/* Returns the part that remains of a second that is `age` seconds old. */
double steps_decay(const struct steps *steps, uint64_t age);

#endif
