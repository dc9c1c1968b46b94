/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_BATCHES_H
#define FAIRMILL_RUN_BATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct error;
struct batch;
struct batch_records;
struct settings;

/*
 * Computes all times of a batch.  If a database session breaks, retries from the first time that
 * was not handed over.  `*source` is the batch's session.  After a reconnect, `*source` is the new
 * session.  Sets `*readings` to the number of scans of the jobs.  Returns -1 on error.
 */
int batch_run(struct batch *batch, const struct settings *settings, struct db **source,
              size_t *readings, struct error *err);

/*
 * Reads the ledger and the runs' records of a cluster.  `records` is empty if there are no result
 * tables.  Returns -1 on error; otherwise the caller frees `records` with batch_records_free().
 */
int batch_records_find(const struct settings *settings, const char *cluster,
                       struct batch_records *records, struct error *err);

struct times;

/* A range of past times that a command requests. */

struct past_times_request {
    const int64_t *since; /* NULL means the earliest end time of a job */
    const int64_t *until; /* NULL means five minutes ago, which is also the latest possible time */
    uint64_t every_s;     /* step in seconds, not 0; steps of whole days begin at midnight in the
                           * settings' time zone */
    bool any_age;         /* also compute times from `since` to history_days */
};

/*
 * Appends the requested times of a cluster in ascending order.  Omits times before history_days,
 * unless `any_age` is set, and times in the last five minutes.  Reads `source` in a snapshot of its
 * own.  Returns -1 on error.
 */
int past_times_find(const struct past_times_request *asked, const struct settings *settings,
                    struct db *source, const char *cluster, struct times *times, struct error *err);

#endif
