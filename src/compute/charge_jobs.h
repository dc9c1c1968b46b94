/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_CHARGE_JOBS_H
#define FAIRMILL_COMPUTE_CHARGE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

struct computation;
struct error;
struct jobs_seen;
struct checkpoint_plan;

/* Read the rollups that stand for jobs, and the job rows that the plan asks for, which ended after
 * `cutoff` or are open, and charge each to its association: those below the seal in the plan's
 * sums, the others in the tree.  Without a plan (NULL) all of them are read, and go into the tree.
 * *seen may know an older end. */
int charge_jobs(struct computation *computation, struct checkpoint_plan *plan, uint64_t cutoff,
                struct jobs_seen *seen, struct error *err);

/* What charge_jobs() adds to the tree that is no row of the source: the ledger's credits, debits
 * and amounts, and the usage that the source began with.  Where the computation is split
 * (compute/accumulators.h) it leaves them to the computations of the instants. */
int charge_corrections(struct computation *computation, struct error *err);

/* Whether jobs were purged, which is asked once, and only where no job that is left ended by the
 * cutoff. */
struct purge {
    uint64_t cutoff;
    bool known, found;
};
/* Up to where rollups say what jobs did; 0: nowhere.  What they say of the jobs' times comes into
 * *seen, whose oldest end is known. */
int rollups_end(const struct computation *computation, struct purge *purge, struct jobs_seen *seen,
                uint64_t *until, struct error *err);

#endif
