/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CHARGE_JOBS_H
#define FAIRMILL_CHARGE_JOBS_H

#include <stdint.h>

struct computation;
struct error;
struct jobs_seen;
struct seal_plan;

/* Read the rollups that stand for jobs, and the job rows that the plan asks for, which ended after
 * `cutoff` or are open, and charge each to its association: those below the seal in the plan's
 * sums, the others in the tree.  Without a plan (NULL) all of them are read, and go into the tree.
 * *seen may know an older end. */
int charge_jobs(struct computation *computation, struct seal_plan *plan, uint64_t cutoff,
                struct jobs_seen *seen, struct error *err);

#endif
