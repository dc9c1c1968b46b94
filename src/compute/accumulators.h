/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_ACCUMULATORS_H
#define FAIRMILL_COMPUTE_ACCUMULATORS_H

#include "compute/charge.h"

/* What becomes of charges, slice by slice; and of rows, once each, behind their last charge. */

/* Adds them up: sealed ones in sums of their own, the others in the computation's tree.  The last
 * one waits until sums_accumulator_end(). */
struct rollup_row;
struct sums_accumulator {
    struct charge_accumulator accumulator;
    struct computation *computation;
    struct usage_sums *checkpointed;
    struct wide *sum; /* where the one that waits is to be added; NULL: none waits */
    struct charge_term waiting;
    bool negative;
    uint64_t association;
};
void sums_accumulator_begin(struct sums_accumulator *accumulator, struct computation *computation,
                            struct usage_sums *checkpointed);
int sums_accumulator_end(struct sums_accumulator *accumulator, struct error *err);

/* What the job rows of a cluster say besides usage.  UINT64_MAX where there was none. */
struct jobs_seen {
    uint64_t count;
    uint64_t newest;           /* instant up to now in a row; 0 */
    uint64_t oldest_end;       /* likewise below */
    uint64_t first_charge;     /* the first second that counts; see seen_accumulator.created */
    uint64_t first_behind_end; /* likewise of what is charged behind the end of suspended jobs */
};
extern const struct jobs_seen jobs_seen_none;
void note_least(uint64_t *least, uint64_t value);

/* A sink of rows: counts jobs, and notes their times and what is odd about them. */
struct seen_accumulator {
    struct charge_accumulator accumulator;
    const char *cluster;
    uint64_t now, cutoff;
    uint64_t horizon; /* seconds; 0: the cutoff moves with full runs only */
    struct jobs_seen *seen;
    struct findings *findings;
    uint64_t *checkpointed_first; /* for sealed rows, their first_charge */
    struct findings *checkpointed_findings;
    uint64_t created; /* rows that begin long before it are findings, and not the first usage */
    bool of_all;      /* no row is kept as a part of sums */
};
int seen_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                          struct error *err);
/* The same of a rollup, whose first second that counts is `first`. */
void seen_rollup(const struct seen_accumulator *accumulator, const struct rollup_row *row,
                 uint64_t first, bool checkpointed);

/* A sink of rows: notes what the sealed rows are that ended behind `left_out`, or takes them off.
 */
struct day_hash_accumulator {
    struct charge_accumulator accumulator;
    struct day_hashes *hashes;
    uint64_t left_out;
    bool negative;
};
int day_hash_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                              struct error *err);

/* Adds to the usage of days. */
struct days_accumulator {
    struct charge_accumulator accumulator;
    struct days *days;
    struct findings *findings;
};
int days_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                          struct error *err);

/* A sink of rows: notes the first second that counts. */
struct first_accumulator {
    struct charge_accumulator accumulator;
    uint64_t *first;
};
int first_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                           struct error *err);

/* Hands on what counts for usage and was not refunded. */
struct watcher_accumulator {
    struct charge_accumulator accumulator;
    struct charge_accumulator *watcher;
    const struct ledger_state *ledger;
};
int watcher_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                             struct error *err);

/* Whether a job's row was refunded. */
bool job_is_refunded(const struct ledger_state *ledger, const struct job_row *row);

struct usage_sums;

/* Charges of one reading, added up for several instants.
 *
 * The reading is that of the last instant.  A row that has ended by one of them is charged the same
 * at it and at all that follow, if nothing but `now` differs between these: so it is added once, to
 * the first of them.  At an instant at which it was still at work it is charged anew, up to then,
 * and counts for that instant alone.  What has been used by an instant is the sum of what was added
 * to it and to all before it, and of what counts for it alone. */
struct multi_time_sums {
    const struct decay_table *decay;
    struct usage_sums *ended, *working;
    struct charge_context context; /* of the pass */
};
struct multi_time_accumulator {
    struct charge_accumulator accumulator;
    struct split *multi;
};
struct split {
    struct multi_time_accumulator hashes, rows; /* take the slices, and the rows, of a pass */
    struct multi_time_sums *times;              /* ascending; the last one is that of the reading */
    size_t count;
};
/* The instants' clocks are set.  It stays where it is, and is to be freed with multi_time_free().
 */
void multi_time_begin(struct split *multi, struct multi_time_sums *times, size_t count);
void multi_time_free(struct split *multi);
/* Rows are charged by this charger from now on, but for the instant. */
void multi_time_begin_scan(struct split *multi, const struct charge_context *context);

#endif
