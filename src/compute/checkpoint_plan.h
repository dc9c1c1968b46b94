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
    CHECKPOINT_VERIFY,      /* read all rows, make a checkpoint with the stored checkpoint time, and
                             * compare it with the stored checkpoint */
    CHECKPOINT_INCREMENTAL, /* do not read checkpointed rows */
};

struct checkpoint_plan {
    const struct stored_checkpoint *stored;
    const char *source_identity;
    bool asked_full;
    bool compares_all;      /* compare columns of stored rows even if no TRES uses them yet */
    bool asked_now;         /* the run was started for a given time */
    bool publishes_nothing; /* the run only computes values: it continues from the stored sums or
                             * ignores them, but checks nothing and collects no daily usage */
    enum checkpoint_mode mode;
    char why[256];                /* why the run is full; otherwise "" */
    bool zone_changed;            /* days of the last run are in another time zone */
    struct text cluster_identity; /* distinguishes the cluster from others of the same name */
    bool anew;                    /* the sums are rebuilt; the stored sums are not used */
    bool confirmed;               /* set with CHECKPOINT_VERIFY: the stored sums equal `sums` */
    struct checkpoint checkpoint; /* the checkpoint that this run stores */
    struct job_keys open;         /* keys of the rows that have not ended by now */
    struct job_keys ended; /* keys of the rows that were open in the stored checkpoint but have
                            * since ended or disappeared */
    /* Sums of the checkpointed rows that this run adds to the stored sums.  For CHECKPOINT_FULL and
     * CHECKPOINT_VERIFY, sums of all checkpointed rows. checkpoint_plan_fold() turns them into the
     * sums to be stored. */
    struct usage_sums *sums;
    /* For CHECKPOINT_VERIFY: sums of the rows that cannot be in the stored sums, minus sums of the
     * rows that are only in the stored sums. */
    struct usage_sums *late;
    /* Findings of the checkpointed rows, including rows in the stored sums */
    struct findings *findings;
    /* Sums of QOS on days that are too long ago have ids from expired_from up to but not including
     * expired_to (compute/tres_usage.h). */
    uint64_t expired_from, expired_to;
    struct day_hashes hashes; /* hashes of the checkpointed rows after this run */
    /* The range that is read again to detect changes.  It contains the stored daily usage of days
     * that begin from check_from up to, but not including, check_to.  With CHECKPOINT_INCREMENTAL,
     * it also contains the checkpointed rows of the days (UTC) that begin in this range.  Stored
     * days that begin at check_all_from or later are always read. */
    uint64_t check_from, check_to, check_all_from;
    bool begins_round; /* this run is the first of a check round, so it also checks the checkpointed
                        * rollups */
    struct day_hashes checked; /* hashes of the checkpointed rows that were read again */
    struct days *days;         /* daily usage; NULL if not needed */
    double drift; /* largest difference between a new and a stored sum, in TRES-seconds; NAN if not
                   * compared */
    int64_t drifted; /* number of associations that differ; -1 if not compared */
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
 * Returns `basis` with hashes of the charge rates, ledger resets and usage transfers before
 * `reach`.  Sums of usage before `reach` depend on them.  The caller frees it.
 */
char *checkpoint_basis_within(const char *basis, const struct computation *computation,
                              uint64_t reach);

/*
 * Begins to collect the daily usage, after checkpoint_plan_make().  Rows that ended at or before
 * `cutoff` are not included in usage.  Returns -1 on error.
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
