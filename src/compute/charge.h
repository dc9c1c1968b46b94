/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_CHARGE_H
#define FAIRMILL_COMPUTE_CHARGE_H

#include "core/usage/usage_owners.h"

struct error;

/* A charge: what a slice of a row's time (core/usage/usage_owners.h) adds to usage, or takes off
 * it.  A suspension is a charge like that of its job, taken off. */
struct charge {
    const struct job_row *row;
    uint64_t number;            /* of the row, from 1 on: rows of one job may have the same times */
    struct job_span span;       /* the row's */
    uint64_t ended;             /* when the row did; 0 where it is open */
    bool negative;              /* it is taken off */
    bool again;                 /* of time that the row was charged before, see charge_again() */
    bool checkpointed;          /* the row belongs to the sums that are kept */
    bool expired;               /* it ended by the cutoff: only its days count */
    enum job_outcome outcome;   /* of the row, as its slices so far have it */
    uint64_t first;             /* likewise the first second that counts, resets of associations
                                 * aside; UINT64_MAX where none does */
    struct slice interval;      /* slice.association is whose usage it is */
    struct charge_term used;    /* what was used; also what counts for its days only */
    struct charge_term counted; /* the part that counts for usage; units are 0 where none does */
};

/* What charges are made by. */
struct charge_context {
    struct charging charging;
    const struct ledger_state *ledger;
    const struct passes *passes; /* of slurmctld, */
    uint64_t period;             /* their period in seconds, */
    uint64_t recent; /* and since how many seconds before now they decide; nothing that ended since
                      * is sealed */
    const struct usage_owners *owners;   /* NULL: what an association used is its own */
    const struct checkpoint *checkpoint; /* the one that the run leaves; NULL: no row is sealed */
    bool negative;                       /* charges are taken off */
    uint64_t cutoff;                     /* what ended by then has expired */
    uint64_t left_out;                   /* nothing of what ended by then counts for usage */
    struct suspensions suspensions;
    uint64_t rows; /* that were charged */
};

/* Make the charge of a row's first slice; it holds as long as the row. */
void charge_begin(struct charge_context *context, const struct job_row *row, struct charge *charge);
/* Make it that of the next slice; false behind the last, where outcome and first are those of the
 * whole row. */
void charge_fill_interval(struct charge_context *context, struct charge *charge);
static inline bool charge_next(struct charge_context *context, struct charge *charge)
{
    if (!charge_interval_next(&charge->interval, charge->span.end))
        return false;
    charge_fill_interval(context, charge);
    return true;
}

/* If a job was resized at the row's end, make the charge of the time that slurmctld charges again
 * at the new size, go on with charge_next(), and return true.  `again` is the row of this charge
 * and must last as long. */
bool charge_again(struct charge_context *context, const struct job_row *row, struct job_row *again,
                  struct charge *charge);
/* The row of that charge, if it begins with this pass; false if it is charged for no second. */
bool charge_again_row(const struct job_row *row, uint64_t pass, struct job_row *again);

/* Who takes charges, or behind its last charge what a row is.  Each kind of sink begins with this.
 */
struct charge_accumulator {
    int (*take)(struct charge_accumulator *accumulator, const struct charge *charge,
                struct error *err);
};

#endif
