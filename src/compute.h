/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_H
#define FAIRMILL_COMPUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "results/publish.h"

struct accounting;
struct clock;
struct db;
struct error;
struct findings;
struct settings;
struct tree;
struct values;

/* What is computed for a cluster. */
struct computation {
    struct accounting *accounting;
    struct tree *tree;
    struct values *values;
    struct findings *findings;
    struct clock *clock;
    double capacity; /* R_H of SPEC 4; NAN where it is unknown */
    struct run_record record;
};

/* Read a cluster in one snapshot, which ends with its last row, and compute every value.  `now`
 * NULL: the wall clock once the snapshot is open.  `ordered`: read what slurmctld's ties need even
 * if the settings do not. */
int compute_cluster(struct computation *computation, const struct settings *settings,
                    struct db *source, const char *cluster, const int64_t *now, bool ordered,
                    struct error *err);
void computation_free(struct computation *computation);

/* A record of a full run in which nothing is known yet. */
extern const struct run_record run_record_empty;

#endif
