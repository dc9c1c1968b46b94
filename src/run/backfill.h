/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_BACKFILL_H
#define FAIRMILL_RUN_BACKFILL_H

#include <stdbool.h>
#include <stdint.h>

#include "run/batches.h"
#include "run/clusters.h"

struct error;
struct settings;

/* Points of history for instants that are over (compute/batch.h).  What is published stays as it
 * is, and so does the point that a run made of its own time.  Each point is a transaction, under
 * the lock of the cluster's runs, so that what was ended goes on from there the next time. */

struct backfill_options {
    struct cluster_names clusters; /* only these; none: all */
    struct past_times_request times;
    bool replace;                              /* make those anew that backfill made before */
    bool dry_run;                              /* only say what would be made */
    void (*complain)(const struct error *err); /* for each cluster that failed */
};

/* What was made of a cluster. */
struct backfill_result {
    size_t points, readings; /* made now, of so many readings of the jobs */
    size_t skipped;          /* there were no associations then, or no tree of them; */
    char why[256];           /* of the first of these instants */
    size_t there;            /* that were there already */
    int64_t first, last;     /* the instants of all these */
    uint64_t most_in_doubt;  /* associations at one point */
    double truncation_bound; /* the largest; NAN: nobody knows */
};

/* Every cluster, one after another; `tell` gets what was made of each.  One that fails is
 * complained of, and leaves the others. */
int backfill(const struct settings *settings, const struct backfill_options *options,
             void (*tell)(void *context, const char *cluster, const struct backfill_result *result),
             void *context, struct error *err);

/* Make points of a cluster anew that are not as they were stored. */
int backfill_repair(const struct settings *settings, const char *cluster, struct error *err);

#endif
