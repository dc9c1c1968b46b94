/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_STEPS_H
#define FAIRMILL_CORE_USAGE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/* slurmctld's decay, of which ours is the limit (facts of Slurm 1.2: _apply_new_usage() and
 * _decay_thread() of the plugin priority/multifactor; as observed of live clusters).
 *
 * With D = 1 - 0.693 / half-life, every `period` seconds, at a step, all usage is multiplied by
 * D^period, and then each job that runs is charged for the seconds since the last step, or since
 * its start: d D^d of them for d seconds, as if all were d old.  A job that ends is charged so for
 * its last seconds at its end, and the next step decays that by D^period more; but where slurmctld
 * does not enforce limits, it never looks at a job that ends (_adjust_limit_usage() of
 * acct_policy.c), and those seconds are free.
 *
 * So between two steps a job's worth is a sum over steps, which is geometric:
 *
 *     d1 D^(L-s) + P D^P D^(L-tn) (1 - D^(P m)) / (1 - D^P) + f D^f D^(L-u)
 *
 * of a job from s to e, with L the newest step, t1 = s + d1 the first step and tn = t1 + P m the
 * last one in which it ran, and u the last before e, f = e - max(u, s). */

/* For instants from `oldest` to `now`; a half-life of 0 is no decay.  The period is not 0.
 * `ends_free`: limits are not enforced. */
struct steps *steps_create(uint64_t half_life, uint64_t period, bool ends_free, uint64_t oldest,
                           uint64_t now);
void steps_destroy(struct steps *steps);

/* How many seconds of now a job is worth that ran from `start` to `end`, 0 while it runs, where the
 * newest step was at `newest`, at most a period ago.  `reset` is the last time before that at which
 * usage began anew, 0 for none: the first step from there on takes all away that there is. */
double steps_worth(const struct steps *steps, uint64_t newest, uint64_t reset, uint64_t start,
                   uint64_t end);

/* What is left of a second that is `age` old. */
double steps_decay(const struct steps *steps, uint64_t age);

#endif
