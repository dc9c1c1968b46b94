/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_CHECKPOINT_PLAN_H
#define FAIRMILL_COMPUTE_CHECKPOINT_PLAN_H

#include "results/checkpoint_rows.h"
#include "util/text.h"

struct computation;
struct settings;

/* How a run goes on from the seal that the last one left, and what it leaves to the next. */

enum checkpoint_mode {
    CHECKPOINT_UNUSED,      /* the kept seal is not looked at, and stays as it is */
    CHECKPOINT_FULL,        /* every row is read; the seal is made anew */
    CHECKPOINT_VERIFY,      /* likewise, up to the same instant, and compared with the kept one */
    CHECKPOINT_INCREMENTAL, /* rows below the kept seal are not read */
};

struct checkpoint_plan {
    const struct stored_checkpoint *stored;
    const char *source_identity;
    bool asked_full;
    bool asked_now;         /* the run was asked for an instant */
    bool publishes_nothing; /* only for values: kept sums are used as they are or not at all,
                             * nothing is checked, and no days are gathered */
    enum checkpoint_mode mode;
    char why[256];                /* it is full; "" where it is not */
    bool zone_changed;            /* days are not those of the last run's time zone */
    struct text cluster_identity; /* what tells it from any other of its name */
    bool anew;                    /* nothing of the kept sums remains */
    bool confirmed;               /* CHECKPOINT_VERIFY: the kept sums are `sums` */
    struct checkpoint checkpoint; /* the one that this run leaves */
    struct job_keys open;         /* rows that have not ended now */
    struct job_keys ended;        /* those of the kept ones that have by now, or are gone */
    /* Of rows below the seal that this run leaves: what they add to the kept sums, or
     * (CHECKPOINT_FULL and CHECKPOINT_VERIFY) all of them.  checkpoint_plan_fold() makes it the
     * sums to be stored. */
    struct usage_sums *sums;
    struct usage_sums *late;   /* CHECKPOINT_VERIFY: what `sums` have and the kept ones cannot have,
                                * less what only the kept ones have */
    struct findings *findings; /* of these rows, and of those in the kept sums */
    struct day_hashes hashes;  /* of the rows below the seal that this run leaves */
    /* What is looked at once more, to see that it has not changed: stored days of usage that begin
     * from check_from on and before check_to, and (CHECKPOINT_INCREMENTAL) rows in the kept sums of
     * days of UTC that begin then.  The days from check_all_from on are always looked at. */
    uint64_t check_from, check_to, check_all_from;
    bool begins_round;         /* and whether rollups in the kept sums are */
    struct day_hashes checked; /* what these rows are */
    struct days *days;         /* what was used on each; NULL: that is not looked at */
    double drift;              /* the largest difference found, TRES-seconds; NAN: not looked for */
    int64_t drifted;           /* how many associations differ */
};
void checkpoint_plan_free(struct checkpoint_plan *plan);

/* Whether a run at `now` is the first of a round.  Such a run reads again what is not read in
 * slices of days. */
bool checkpoint_begins_round(const struct checkpoint *stored, const struct settings *settings,
                             uint64_t now);

/* Decide, in the source's snapshot, once its small tables are read and the clock is there. */
int checkpoint_plan_make(struct checkpoint_plan *plan, const struct computation *computation,
                         uint64_t cutoff, struct error *err);

/* Then begin to gather the usage of days.  Rows that ended at `cutoff` or before are not charged.
 */
int checkpoint_plan_begin_days(struct checkpoint_plan *plan, const struct computation *computation,
                               uint64_t cutoff, struct error *err);

/* Once all rows were read: whether those that were read once more are what they were; ERROR_DAMAGED
 * where they are not. */
int checkpoint_plan_check(struct checkpoint_plan *plan, struct error *err);

/* After the source's snapshot: add the sums to the tree's nodes, the kept ones from `results`
 * included, and compare where that is to be done.  ERROR_DAMAGED where a kept sum is not what was
 * stored: all is to be computed once more. */
int checkpoint_plan_fold(struct checkpoint_plan *plan, struct computation *computation,
                         struct db *results, struct error *err);

#endif
