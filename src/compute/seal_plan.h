/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SEALING_H
#define FAIRMILL_SEALING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/usage/seal.h"
#include "results/seal_rows.h"

struct computation;
struct days;
struct db;
struct error;
struct findings;
struct ledger_state;
struct settings;
struct wide;

/* How a run goes on from the seal that the last one left, and what it leaves to the next. */

enum sealing_mode {
    SEALING_NONE,        /* the kept seal is not looked at, and stays as it is */
    SEALING_FULL,        /* every row is read; the seal is made anew */
    SEALING_VERIFY,      /* likewise, up to the same instant, and compared with the kept one */
    SEALING_INCREMENTAL, /* rows below the kept seal are not read */
};

struct sealing {
    const struct kept_seal *kept; /* NULL: neither used nor made */
    bool asked_full;
    bool asked_now; /* the run was asked for an instant */
    enum sealing_mode mode;
    char why[256];         /* it is full; "" where it is not */
    bool anew;             /* nothing of the kept sums remains */
    bool confirmed;        /* SEALING_VERIFY: the kept sums are `sums` */
    struct seal seal;      /* the one that this run leaves */
    struct job_keys open;  /* rows that have no time_end now */
    struct job_keys ended; /* those of the kept ones that have one now, or are gone */
    /* Of rows below the seal that this run leaves: what they add to the kept sums, or (SEALING_FULL
     * and _VERIFY) all of them.  sealing_fold() makes it the sums to be stored. */
    struct usage_sums *sums;
    struct usage_sums *late;   /* SEALING_VERIFY: what `sums` have and the kept ones cannot have,
                                * less what only the kept ones have */
    struct findings *findings; /* of these rows, and of those in the kept sums */
    struct days *days;         /* what was used on each; NULL: that is not looked at */
    double drift;              /* the largest difference found, TRES-seconds; NAN: not looked for */
    int64_t drifted;           /* how many associations differ */
};
void sealing_free(struct sealing *sealing);

/* Decide, in the source's snapshot, once its small tables are read and the clock is there. */
int sealing_plan(struct sealing *sealing, const struct computation *computation,
                 const struct settings *settings, struct db *source, const char *cluster,
                 const char *source_identity, uint64_t cutoff, struct error *err);

/* Then begin to gather the usage of days.  Rows that ended at `cutoff` or before are not charged.
 */
void sealing_begin_days(struct sealing *sealing, const struct settings *settings,
                        const struct ledger_state *ledger, uint64_t now, uint64_t cutoff);

/* After the source's snapshot: add the sums to the tree's nodes, the kept ones from `results`
 * included, and compare where that is to be done.  A kept sum that is not what was stored sets
 * *damaged, and all is to be computed once more without the seal. */
int sealing_fold(struct sealing *sealing, struct computation *computation, struct db *results,
                 const char *cluster, bool *damaged, struct error *err);

#endif
