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

/*
 * The ledger entries and the runs' records of a cluster for all times.  A member is NULL if there
 * are no such records.
 */
struct batch_records {
    struct ledger *ledger;
    struct factor_history *factors; /* recorded usage factors of QOS */
    struct share_records *shares;   /* recorded states of associations */
};
int batch_records_read(struct db *results, const char *cluster, struct batch_records *records,
                       struct error *err);
void batch_records_free(struct batch_records *records);

/*
 * Computes the values of a cluster at many past times with few scans of its jobs.
 *
 * Consecutive times form a group if an ended job is charged the same at all of them.  So a group
 * has one decay epoch and start, and the same resets, refunds, usage owners, factors and rollups.
 * One scan serves the whole group (compute/accumulators.h).  Each time has its own associations and
 * shares.  Every value equals, to the bit, the value of `run --now` at that time.
 */
struct batch {
    struct source source; /* its time is ignored */
    struct batch_records records;
    const int64_t *times; /* ascending, all in the past */
    size_t count;
    /* Receives each computation in the order of the times, while no snapshot of the source is open.
     * The computation is freed after the call. */
    int (*take)(void *context, const struct computation *computation, struct error *err);
    /* Receives a time that is skipped because there were no associations, or because the
     * associations do not form a tree. */
    void (*skip)(void *context, int64_t time, const struct error *reason);
    void *context;
};

/*
 * Computes the values of the next group of times, beginning with index `*done`.  A group has at
 * least one time.  Advances `*done` to the index after the last time that was handed over or
 * skipped, also on error.  Returns -1 on error.
 */
int batch_compute_some(const struct batch *batch, size_t *done, struct error *err);

#endif
