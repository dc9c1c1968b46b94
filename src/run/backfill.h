/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_BACKFILL_H
#define FAIRMILL_RUN_BACKFILL_H

#include <stdbool.h>
#include <stdint.h>

#include "run/backfill_tres.h"
#include "run/batches.h"
#include "run/clusters.h"

struct error;
struct settings;

/*
 * Computes history points for past times (compute/batch.h).  Published values and the points of
 * runs do not change.  Each point is written in its own transaction under the lock of the cluster's
 * runs.  So if a backfill is interrupted, the next backfill continues after the last point that was
 * written.
 *
 * Then fills the usage by TRES of days that have none (run/backfill_tres.h).
 */

struct backfill_options {
    struct cluster_names clusters; /* the clusters to process; all if empty */
    struct past_times_request times;
    bool replace;                              /* also recompute points that backfill made before */
    bool dry_run;                              /* only count the points and days; write nothing */
    void (*complain)(const struct error *err); /* called for each cluster that failed */
};

/* The result for one cluster. */
struct backfill_result {
    size_t points, readings; /* points written (only counted if dry_run), and scans of the jobs that
                              * this took */
    size_t skipped;      /* skipped times, at which there were no associations or no valid tree */
    char why[256];       /* the first skipped time and the reason */
    size_t there;        /* times that were left out because they have a point already */
    int64_t first, last; /* first and last of all requested times */
    uint64_t most_in_doubt;       /* maximum number of uncertain associations at one point */
    double truncation_bound;      /* the largest truncation bound of a point; NAN if unknown */
    struct tres_fill_result tres; /* days of usage by TRES */
};

/*
 * Processes the clusters one after another, and passes the result of each to `tell`.  If a cluster
 * fails, reports it with options->complain and continues with the next one.  Returns -1 if an error
 * occurs before the first cluster.
 */
int backfill(const struct settings *settings, const struct backfill_options *options,
             void (*tell)(void *context, const char *cluster, const struct backfill_result *result),
             void *context, struct error *err);

/* Recomputes the damaged points of a cluster.  Returns -1 on error. */
int backfill_repair(const struct settings *settings, const char *cluster, struct error *err);

#endif
