/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_CHECKPOINT_PLAN_H
#define FAIRMILL_COMPUTE_CHECKPOINT_PLAN_H

#include "results/checkpoint_rows.h"
#include "util/text.h"

struct computation;
struct settings;

/* How a run continues from the checkpoint of the last run, and which checkpoint it leaves. */

enum checkpoint_mode {
    CHECKPOINT_UNUSED,      /* ignore the stored checkpoint and leave it unchanged */
    CHECKPOINT_FULL,        /* read all rows and make a new checkpoint */
    CHECKPOINT_VERIFY,      /* read all rows, make the checkpoint up to the stored checkpoint time,
                             * compare both */
    CHECKPOINT_INCREMENTAL, /* do not read checkpointed rows */
};

struct checkpoint_plan {
    const struct stored_checkpoint *stored;
    const char *source_identity;
    bool asked_full;
    bool asked_now;         /* the run was started for a given time */
    bool publishes_nothing; /* only compute values: either use the stored sums unchanged or not at
                             * all, check nothing and collect no usage of days */
    enum checkpoint_mode mode;
    char why[256];                /* why the run is full; otherwise "" */
    bool zone_changed;            /* days of the last run are in another time zone */
    struct text cluster_identity; /* distinguishes the cluster from others of the same name */
    bool anew;                    /* none of the stored sums remains */
    bool confirmed;               /* CHECKPOINT_VERIFY: the stored sums equal `sums` */
    struct checkpoint checkpoint; /* that this run leaves */
    struct job_keys open;         /* rows that have not ended now */
    struct job_keys ended;        /* stored open rows that have since ended or are missing */
    /* Sums of the checkpointed rows that this run adds to the stored sums.  For CHECKPOINT_FULL and
     * CHECKPOINT_VERIFY, sums of all checkpointed rows. checkpoint_plan_fold() turns them into the
     * sums to be stored. */
    struct usage_sums *sums;
    struct usage_sums *late;   /* CHECKPOINT_VERIFY: rows that are in `sums` but cannot be in the
                                * stored sums, minus rows that are only in the stored sums */
    struct findings *findings; /* of these rows and of the rows in the stored sums */
    struct day_hashes hashes;  /* of the checkpointed rows that this run leaves */
    /* The range that is read again to detect changes.  It applies to stored days of usage that
     * begin from check_from up to, but not including, check_to.  With CHECKPOINT_INCREMENTAL it
     * also applies to checkpointed rows by day (UTC).  Days from check_all_from on are always read.
     */
    uint64_t check_from, check_to, check_all_from;
    bool begins_round;         /* also check the checkpointed rollups */
    struct day_hashes checked; /* hashes of the rows read again */
    struct days *days;         /* usage by day; NULL if not needed */
    double drift;              /* largest difference in TRES-seconds; NAN if not compared */
    int64_t drifted;           /* number of associations that differ; -1 if not compared */
};
/*
 * Frees the results of a plan.  Keeps the members that the caller set, so that the plan can be used
 * again.
 */
void checkpoint_plan_free(struct checkpoint_plan *plan);

/*
 * Returns true if a run at `now` is the first of a check round.  Such a run checks again the data
 * that is not divided into days.
 */
bool checkpoint_begins_round(const struct checkpoint *stored, const struct settings *settings,
                             uint64_t now);

/*
 * Decides the mode of the plan and initializes it.  Call it in the source's snapshot, after the
 * small tables were read and computation->decay was created.  Returns -1 on error.
 */
int checkpoint_plan_make(struct checkpoint_plan *plan, const struct computation *computation,
                         uint64_t cutoff, struct error *err);

/*
 * Begins to collect the usage of days, after checkpoint_plan_make().  Rows that ended at or before
 * `cutoff` do not count for usage.  Returns -1 on error.
 */
int checkpoint_plan_begin_days(struct checkpoint_plan *plan, const struct computation *computation,
                               uint64_t cutoff, struct error *err);

/*
 * Compares the rows that were read again with their hashes, after all rows were read.  Returns -1
 * and sets ERROR_DAMAGED if they differ.
 */
int checkpoint_plan_check(struct checkpoint_plan *plan, struct error *err);

/*
 * Adds the checkpointed sums, including the stored ones in `results`, to the tree's nodes.  With
 * CHECKPOINT_VERIFY, also compares them with the stored sums.  Call it after the source's snapshot.
 * Returns -1 on error.  ERROR_DAMAGED means that a stored sum is damaged; all values must then be
 * computed again.
 */
int checkpoint_plan_fold(struct checkpoint_plan *plan, struct computation *computation,
                         struct db *results, struct error *err);

#endif
