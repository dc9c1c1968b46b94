/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_FACTORS_H
#define FAIRMILL_COMPUTE_FACTORS_H

struct computation;
struct error;
struct factor_history;
struct checkpoint_plan;

/* Put the usage factors of QOS into the computation's tariffs, each from the instant on from which
 * it holds: by what runs have noted (`past` NULL: nothing) and by what the source tells.  Without a
 * plan (NULL) nothing is noted. */
int factors_read(struct computation *computation, struct factor_history *history,
                 const struct checkpoint_plan *plan, struct error *err);
/* The same as of the instant of another computation of the same accounting, with what was read. */
void factors_apply(struct computation *computation, struct factor_history *history);

#endif
