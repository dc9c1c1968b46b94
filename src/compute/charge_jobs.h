/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_CHARGE_JOBS_H
#define FAIRMILL_COMPUTE_CHARGE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

struct computation;
struct error;
struct jobs_seen;
struct checkpoint_plan;

/*
 * Reads the rollups that replace purged jobs and the job rows that the plan needs, and charges each
 * to its association.  Rows that ended at or before `cutoff` do not count for usage.  Charges of
 * checkpointed rows go to the plan's sums, and all others to the computation's tree.
 *
 * Without a plan (NULL), reads all rows and charges all of them to the tree.  Updates `*seen`,
 * whose oldest_end may already be set.  Returns -1 on error.
 */
int charge_jobs(struct computation *computation, struct checkpoint_plan *plan, uint64_t cutoff,
                struct jobs_seen *seen, struct error *err);

/*
 * Adds usage from sources other than job rows and rollups.  These are the ledger's credits, debits
 * and set amounts, and the initial usage.  Usually charge_jobs() calls this.  With a multi-time
 * accumulator (compute/accumulators.h), the caller must do so for the computation of each time.
 * Returns -1 on error.
 */
int charge_corrections(struct computation *computation, struct error *err);

/*
 * Caches whether the source's job rows were purged.  Asked at most once, and only if no remaining
 * row ended at or before the cutoff.
 */
struct purge {
    uint64_t cutoff;
    bool known, found;
};
/*
 * Sets `*until` to the time before which rollups count instead of jobs, or to 0 if they never do.
 * seen->oldest_end must be set.  Adds the rollups' times to `*seen`.  Returns -1 on error.
 */
int rollups_end(const struct computation *computation, struct purge *purge, struct jobs_seen *seen,
                uint64_t *until, struct error *err);

#endif
