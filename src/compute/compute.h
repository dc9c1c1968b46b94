/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_COMPUTE_H
#define FAIRMILL_COMPUTE_COMPUTE_H

#include <stdint.h>

#include "compute/computation.h"
#include "results/checkpoint_rows.h"

struct recorded_state;
struct checkpoint_plan;

/*
 * Reads the data for a computation that computation_of() made, in one snapshot of the accounting
 * database.  The snapshot ends before this function returns.
 *
 * `recorded` is the recorded state; NULL means that nothing was recorded.  With a plan, reads only
 * the rows that the plan needs; the caller must then add the checkpointed sums with
 * checkpoint_plan_fold().  Without a plan (NULL), reads all rows.  Returns -1 on error; the
 * computation then holds nothing to free.
 */
int compute_read(struct computation *computation, const struct recorded_state *recorded,
                 struct checkpoint_plan *plan, struct error *err);
/*
 * Computes all values after compute_read(), with the settings of computation->source.  Returns -1
 * on error; the caller then frees the computation.
 */
int compute_values(struct computation *computation, const struct checkpoint_plan *plan,
                   struct error *err);

/*
 * Returns R_H, the cluster's capacity in TRES-seconds: the usage that the cluster could have
 * delivered in a period.  Returns NAN if the cluster's size is unknown.
 *
 * With decay, the period is the half-life multiplied by the setting capacity_half_lives.  Without
 * decay, the period ends at `now` and begins at `reset`, the last reset.  If `reset` is 0, the
 * period begins at `first_charge`, the first second included in usage.  If `first_charge` is
 * UINT64_MAX, the period begins when the cluster was created.  All times are in epoch seconds.
 */
double compute_capacity(const struct settings *settings, const struct accounting *accounting,
                        uint64_t half_life_s, uint64_t now, uint64_t reset, uint64_t first_charge);

/*
 * Calls compute_read() without a plan, then compute_values().  Returns -1 on error; the computation
 * then holds nothing to free.
 */
int compute_cluster(struct computation *computation, const struct recorded_state *recorded,
                    struct error *err);

struct computation;
struct error;
struct jobs_seen;

/*
 * The functions below determine the usage window, which is the period of the jobs that are included
 * in usage.  They also record the times of these jobs.
 */

/*
 * Creates the computation's decay table for the time `now`, with the resets of its ledger.  Usage
 * begins at the last reset, or at the time of the source's initial usage if that time is later.
 * Returns -1 on error.
 */
int reach_begin(struct computation *computation, uint64_t now, struct error *err);
/*
 * Returns the cutoff.  Rows that ended at or before this time are not included in usage.  They are
 * read only if the daily usage needs them.
 */
uint64_t reach_cutoff(const struct computation *computation);
/*
 * Sets `*oldest_end` to the oldest end time of all rows, or to UINT64_MAX if no row has ended.
 * Leaves `*oldest_end` unchanged if charge_jobs() will read all rows, and so will find the oldest
 * end.  Returns -1 on error.
 */
int reach_oldest_end(const struct computation *computation, uint64_t *oldest_end,
                     struct error *err);
/* Copies the jobs' times from `seen` into the computation and its run record. */
void reach_note_seen(struct computation *computation, const struct jobs_seen *seen);

struct db;
struct source;

/*
 * The stored state of a cluster, for computations that publish nothing.  Such a computation reads
 * only the rows that a run would read now.  The values equal, to the bit, the values computed from
 * all jobs.
 */
struct checkpointed_read {
    struct db *results; /* owned by the caller */
    char *source_identity;
    struct stored_checkpoint stored;
};
/*
 * Reads the stored state.  `results` must stay open until checkpointed_read_free().  Returns -1 on
 * error; there is then nothing to free.
 */
int checkpointed_read_begin(struct checkpointed_read *last, const struct source *source,
                            struct db *results, struct error *err);
void checkpointed_read_free(struct checkpointed_read *last);

/*
 * Does the same as compute_read() without a plan, but continues from the checkpoint if it is valid
 * for the computation's time, settings and recorded state.  Otherwise, or if a run publishes
 * meanwhile, it reads all jobs.  The settings must not have changed since they were loaded.
 */
int checkpointed_read_compute(struct checkpointed_read *last, struct computation *computation,
                              const struct recorded_state *recorded, struct error *err);

/*
 * Does the same as checkpointed_read_compute() with its own session on the results database.  Reads
 * all jobs if there are no result tables.
 */
int compute_read_current(struct computation *computation, const struct recorded_state *recorded,
                         struct error *err);

#endif
