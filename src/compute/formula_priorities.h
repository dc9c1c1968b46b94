/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_FORMULA_PRIORITIES_H
#define FAIRMILL_FORMULA_PRIORITIES_H

#include <stdint.h>

struct findings;
struct formula_jobs;
struct tree;
struct values;

/* Gives each job its entity's values of OpenPBS's fairshare, and ranks the jobs.  `values` and
 * `order`, the place by OpenPBS's fairshare (0: none), are by node.  A formula that cannot be
 * evaluated is a finding. */
void formula_priorities_complete(struct formula_jobs *jobs, const struct tree *tree,
                                 const struct values *values, const uint32_t *order,
                                 struct findings *findings);

#endif
