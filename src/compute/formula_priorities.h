/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_FORMULA_PRIORITIES_H
#define FAIRMILL_FORMULA_PRIORITIES_H

struct formula_jobs;
struct tree;
struct values;

/* Give each job what its entity has of OpenPBS's fairshare, and rank the jobs.  `values` are by
 * node. */
void formula_priorities_complete(struct formula_jobs *jobs, const struct tree *tree,
                                 const struct values *values);

#endif
