/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_BATCH_H
#define FAIRMILL_COMPUTE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "source/layout.h"

struct computation;
struct error;
struct factor_history;
struct ledger;
struct share_records;

/* What people entered and runs noted of a cluster, of all times; each may be NULL: nothing. */
struct batch_records {
    struct ledger *ledger;
    struct factor_history *factors; /* of QOS */
    struct share_records *shares;   /* of associations */
};
int batch_records_read(struct db *results, const char *cluster, struct batch_records *records,
                       struct error *err);
void batch_records_free(struct batch_records *records);

/* The values of a cluster at many instants that are over, from few readings of its jobs.
 *
 * Instants are put together as long as nothing but the instant itself differs in what a job that
 * has ended is charged: the clock's grid and start, resets and refunds of the ledger, whose usage
 * it is, factors, and what rollups stand for.  One reading serves all of them
 * (compute/accumulators.h). Their associations and shares are those of each.  Every value is the
 * one of `run --now' at that instant, bit for bit. */
struct batch {
    struct source source; /* its instant does not matter */
    struct batch_records records;
    const int64_t *times; /* ascending, all of them over */
    size_t count;
    /* Gets each computation, in the order of the instants, when the source is not being read. */
    int (*take)(void *context, const struct computation *computation, struct error *err);
    /* Gets an instant at which the associations were none, or no tree: it is passed over. */
    void (*skip)(void *context, int64_t time, const struct error *reason);
    void *context;
};

/* Compute the instants from number *done on that can be put together, at least one.  *done is then
 * behind the last one that was taken, also where this fails. */
int batch_compute_some(const struct batch *batch, size_t *done, struct error *err);

#endif
