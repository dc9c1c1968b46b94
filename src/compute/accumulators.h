/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_ACCUMULATORS_H
#define FAIRMILL_COMPUTE_ACCUMULATORS_H

#include "compute/tres_usage.h"

/*
 * An accumulator is a consumer of charges.  It is called for each charge interval of a row.  A row
 * accumulator is called once for each row, after the last interval of the row.
 */

/*
 * Adds each charge to the sum of its usage owner.  The sum is in `checkpointed` if the row is
 * checkpointed, otherwise in the computation's tree.  The last charge is not added before
 * sums_accumulator_end() is called.  take() and sums_accumulator_end() return -1 if a sum
 * overflows.
 */
struct rollup_row;
struct sums_accumulator {
    struct charge_accumulator accumulator;
    struct computation *computation;
    struct usage_sums *checkpointed;
    /* the sums to which `waiting` and `products` will be added; place.sum is NULL if no charge is
     * waiting */
    struct usage_place place;
    struct charge_term waiting;
    bool has_products;
    int128 products[KEPT_TRES_LIMIT]; /* by TRES, see compute/tres_usage.h */
    bool negative;
    uint64_t association;
};
void sums_accumulator_begin(struct sums_accumulator *accumulator, struct computation *computation,
                            struct usage_sums *checkpointed);
int sums_accumulator_end(struct sums_accumulator *accumulator, struct error *err);

/*
 * Facts about a cluster's job rows, collected while the rows are charged.  Times are in epoch
 * seconds.  oldest_end, first_charge and first_behind_end are UINT64_MAX if unknown.
 */
struct jobs_seen {
    uint64_t count;
    uint64_t newest;           /* newest start or end of a row that is not after now; or 0 */
    uint64_t oldest_end;       /* oldest time_end of a row */
    uint64_t first_charge;     /* first second included in usage; see seen_accumulator.created */
    uint64_t first_behind_end; /* first second included in usage that was charged after the end of a
                                * suspended job */
};
extern const struct jobs_seen jobs_seen_none;
void note_least(uint64_t *least, uint64_t value);

/* Row accumulator: counts jobs, and records their times and findings. */
struct seen_accumulator {
    struct charge_accumulator accumulator;
    const char *cluster;
    uint64_t now, cutoff;
    uint64_t horizon; /* the setting in seconds; with 0, the cutoff advances only with full runs */
    struct jobs_seen *seen;
    struct findings *findings;
    uint64_t *checkpointed_first; /* receives first_charge of checkpointed rows */
    struct findings *checkpointed_findings;
    uint64_t created; /* when the cluster was added, or 0.  If the usage of a row begins more than
                       * 30 days earlier, the row is a finding and does not set first_charge. */
    bool of_all;      /* there is no checkpoint plan, so no row is checkpointed */
};
int seen_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                          struct error *err);
/*
 * Records the first second of a rollup that is included in usage, or adds a finding if this second
 * is more than 30 days before `created`.
 */
void seen_rollup(const struct seen_accumulator *accumulator, const struct rollup_row *row,
                 uint64_t first, bool checkpointed);

/*
 * Row accumulator: adds the hashes of checkpointed rows that ended after `left_out`, or subtracts
 * the hashes if `negative`.
 */
struct day_hash_accumulator {
    struct charge_accumulator accumulator;
    struct day_hashes *hashes;
    uint64_t left_out;
    bool negative;
};
int day_hash_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                              struct error *err);

/* Adds charges to the daily usage. */
struct days_accumulator {
    struct charge_accumulator accumulator;
    struct days *days;
    struct findings *findings;
};
int days_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                          struct error *err);

/* Row accumulator: counts the jobs that started, by the time for which they had waited. */
struct waits_accumulator {
    struct charge_accumulator accumulator;
    struct days *days;
    struct findings *findings;
};
int waits_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                           struct error *err);

/* Row accumulator: records the first second included in usage. */
struct first_accumulator {
    struct charge_accumulator accumulator;
    uint64_t *first;
};
int first_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                           struct error *err);

/* Passes each charge to `watcher` if the charge is included in usage and is not refunded. */
struct watcher_accumulator {
    struct charge_accumulator accumulator;
    struct charge_accumulator *watcher;
    const struct ledger_state *ledger;
};
int watcher_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                             struct error *err);

/* Returns true if a ledger entry refunds the job of `row`. */
bool job_is_refunded(const struct ledger_state *ledger, const struct job_row *row);

struct usage_sums;

/*
 * Multi-time accumulator: adds up the charges of one scan for several times.
 *
 * The scan is made as of the last time.  If only `now` differs between the times, a row is charged
 * the same at all times after its end.  So the row is added once, to `ended` of the first such
 * time.  At each time before its end, the row is charged up to that time and added to `working` of
 * that time.
 *
 * The usage at a time is the sum of `ended` of this and all earlier times, plus `working` of this
 * time.
 */
struct multi_time_sums {
    const struct decay_table *decay;
    struct usage_sums *ended, *working;
    struct charge_context context; /* context of the current scan */
};
struct multi_time_accumulator {
    struct charge_accumulator accumulator;
    struct split *multi;
};
struct split {
    struct multi_time_accumulator hashes, rows; /* for intervals and rows of a scan */
    struct multi_time_sums *times;              /* ascending; the scan is made as of the last one */
    size_t count;
};
/*
 * Begins an accumulator for `times`, whose `decay` must be set.  `multi` must not move; free it
 * with multi_time_free(), which does not free `times`.
 */
void multi_time_begin(struct split *multi, struct multi_time_sums *times, size_t count);
void multi_time_free(struct split *multi);
/* Begins a scan.  Its rows are charged with `context` and with the decay table of each time. */
void multi_time_begin_scan(struct split *multi, const struct charge_context *context);

#endif
