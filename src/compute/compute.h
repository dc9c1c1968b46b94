/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_COMPUTE_H
#define FAIRMILL_COMPUTE_COMPUTE_H

#include <stdint.h>

#include "compute/computation.h"
#include "results/checkpoint_rows.h"

struct recorded_state;
struct checkpoint_plan;

/* Read the cluster of a computation, made by computation_of(), in one snapshot, which ends with its
 * last row.  `prior` NULL: nothing is known.  With a plan (else NULL) only what it needs is read,
 * and its sums are still to be folded in.  -1 leaves nothing to be freed. */
int compute_read(struct computation *computation, const struct recorded_state *recorded,
                 struct checkpoint_plan *plan, struct error *err);
/* Then compute every value, by the settings of computation->source.  -1 leaves the computation to
 * be freed. */
int compute_values(struct computation *computation, const struct checkpoint_plan *plan,
                   struct error *err);

/* R_H: what the cluster could have delivered in the time that usage is compared with, as of an
 * instant, its last reset (0: none) and the first second that counts (UINT64_MAX: none, so it is
 * since the cluster was created); NAN if it is unknown. */
double compute_capacity(const struct settings *settings, const struct accounting *accounting,
                        uint64_t half_life_s, uint64_t now, uint64_t reset, uint64_t first_charge);

/* Both, without a plan; -1 leaves nothing to be freed. */
int compute_cluster(struct computation *computation, const struct recorded_state *recorded,
                    struct error *err);

struct computation;
struct error;
struct jobs_seen;

/* How far back the usage of a computation reaches, and what its jobs say of that. */

/* Make the computation's clock, as of `now`, with its ledger.  Usage begins with the last reset, or
 * with what the source says of a later instant. */
int reach_begin(struct computation *computation, uint64_t now, struct error *err);
/* Rows that ended at this instant or before are not read. */
uint64_t reach_cutoff(const struct computation *computation);
/* The oldest end of all rows, UINT64_MAX where none has ended; it stays as it is where all rows are
 * read anyway, so that it is among what is seen. */
int reach_oldest_end(const struct computation *computation, uint64_t *oldest_end,
                     struct error *err);
/* What the jobs' times are for the run's record. */
void reach_note_seen(struct computation *computation, const struct jobs_seen *seen);

struct db;
struct source;

/* What the last run kept of a cluster, for computations of which nothing is published: they read
 * only what a run would read now, and make of it what they would make of all jobs, to the bit. */
struct checkpointed_read {
    struct db *results; /* the caller's */
    char *source_identity;
    struct stored_checkpoint stored;
};
/* With a session that must last as long. */
int checkpointed_read_begin(struct checkpointed_read *last, const struct source *source,
                            struct db *results, struct error *err);
void checkpointed_read_free(struct checkpointed_read *last);

/* compute_read() without a plan, where what was kept is good for the computation with its instant,
 * its settings and what is known.  Else, or where a run publishes meanwhile, all jobs are read.
 * The settings must be as they were loaded. */
int checkpointed_read_compute(struct checkpointed_read *last, struct computation *computation,
                              const struct recorded_state *recorded, struct error *err);

/* The same with a session of its own; without result tables nothing was kept. */
int compute_read_current(struct computation *computation, const struct recorded_state *recorded,
                         struct error *err);

#endif
