/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_FACTORS_H
#define FAIRMILL_COMPUTE_FACTORS_H

struct computation;
struct error;
struct factor_history;
struct checkpoint_plan;

/*
 * Puts the usage factors of QOS into the computation's charge rates, each with the time from which
 * it applies.  Evidence comes from `history`, which holds the runs' records, and from the source.
 * `history` may be NULL.  Without a plan (NULL), reads only the changes that the records lack.
 * Returns -1 on error.
 */
int factors_read(struct computation *computation, struct factor_history *history,
                 const struct checkpoint_plan *plan, struct error *err);
/*
 * Puts the usage factors of another time into the charge rates of a computation with the same
 * accounting.  Uses the factors that factors_read() has put into `history`.
 */
void factors_apply(struct computation *computation, struct factor_history *history);

#endif
