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
 * to its association.  Rows that ended at or before `cutoff` are not included in usage.  Charges of
 * checkpointed rows are added to the plan's sums.  Charges of all other rows are added to the
 * computation's tree.
 *
 * Without a plan (NULL), reads all rows and charges all of them to the tree.  Updates `*seen`,
 * whose oldest_end may already be set.  Returns -1 on error.
 */
int charge_jobs(struct computation *computation, struct checkpoint_plan *plan, uint64_t cutoff,
                struct jobs_seen *seen, struct error *err);

/*
 * Adds usage from sources other than job rows and rollups.  These are the ledger's credits, debits
 * and set amounts, and the initial usage.  charge_jobs() calls this function unless the computation
 * has a multi-time accumulator (compute/accumulators.h).  In that case, the caller must call it for
 * the computation of each time.  Returns -1 on error.
 */
int charge_corrections(struct computation *computation, struct error *err);

/*
 * A cache for the answer to one query: were job rows purged from the source?  The source is queried
 * at most once, and only if rollups could replace usage after the cutoff.
 */
struct purge {
    uint64_t cutoff;
    bool known, found;
};
/*
 * Sets `*until` to the time before which rollups are charged instead of jobs, or to 0 if no rollups
 * are charged.  seen->oldest_end must be set.  If [usage] source is `rollup`, also updates the
 * times in `*seen` to the period that the rollups cover.  Returns -1 on error.
 */
int rollups_end(const struct computation *computation, struct purge *purge, struct jobs_seen *seen,
                uint64_t *until, struct error *err);

#endif
