/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_LAST_RUN_H
#define FAIRMILL_LAST_RUN_H

#include "results/seal_rows.h"

struct computation;
struct db;
struct error;
struct prior;
struct source;

/* What the last run kept of a cluster, for computations of which nothing is published: they read
 * only what a run would read now, and make of it what they would make of all jobs, to the bit. */
struct last_run {
    struct db *results; /* the caller's */
    char *source_identity;
    struct kept_seal kept;
};
/* With a session that must last as long. */
int last_run_read(struct last_run *last, const struct source *source, struct db *results,
                  struct error *err);
void last_run_free(struct last_run *last);

/* compute_read() without a plan, where what was kept is good for the computation with its instant,
 * its settings and what is known.  Else, or where a run publishes meanwhile, all jobs are read.
 * The settings must be as they were loaded. */
int last_run_compute_read(struct last_run *last, struct computation *computation,
                          const struct prior *prior, struct error *err);

/* The same with a session of its own; without result tables nothing was kept. */
int compute_read_current(struct computation *computation, const struct prior *prior,
                         struct error *err);

#endif
