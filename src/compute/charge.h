/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_CHARGE_H
#define FAIRMILL_COMPUTE_CHARGE_H

#include "core/usage/usage_owners.h"

struct error;

/*
 * A charge: usage that one charge interval of a row (core/usage/usage_owners.h) adds or subtracts.
 * A suspension is charged like its job, with the opposite sign.
 */
struct charge {
    const struct job_row *row;
    uint64_t number; /* of the row, from 1; distinguishes rows of one job with the same times */
    struct job_span span;     /* of the row */
    uint64_t ended;           /* when the row ended; 0 if it is open */
    bool negative;            /* subtract the charge */
    bool again;               /* this time of the row was charged before, see charge_again() */
    bool checkpointed;        /* the row belongs to the checkpoint */
    bool expired;             /* the row ended at or before the cutoff: counts only for days */
    enum job_outcome outcome; /* of the row, by the intervals so far */
    uint64_t first;          /* first second of these intervals that counts, regardless of resets of
                              * associations; or UINT64_MAX */
    struct slice interval;   /* slice.association is the usage owner */
    struct charge_term used; /* usage, also if it counts only for its days */
    struct charge_term counted; /* part that counts for usage; its units may be 0 */
};

/* The settings and state with which rows are charged. */
struct charge_context {
    struct charging charging;
    const struct ledger_state *ledger;
    const struct passes *passes; /* registrations that date slurmctld's decay cycles */
    uint64_t period;             /* of these cycles, in seconds */
    uint64_t recent; /* for rows that ended at most this many seconds ago, the time of the actual
                      * cycle counts; such rows are never checkpointed */
    const struct usage_owners *owners;   /* NULL: each association owns its usage */
    const struct checkpoint *checkpoint; /* that this run leaves; or NULL */
    bool negative;                       /* subtract the charges */
    uint64_t cutoff;                     /* rows that ended at or before it have expired */
    uint64_t left_out; /* rows that ended at or before it do not count for usage */
    struct suspensions suspensions;
    uint64_t rows; /* number of rows charged */
};

/* Fills `charge` for the first interval of `row`, which must stay valid as long as the charge. */
void charge_begin(struct charge_context *context, const struct job_row *row, struct charge *charge);
/* Recomputes `charge` for its current interval and span.  Call charge_next() instead. */
void charge_fill_interval(struct charge_context *context, struct charge *charge);
/*
 * Advances `charge` to the next interval of the row.  Returns false after the last one; `outcome`
 * and `first` then apply to the whole row.
 */
static inline bool charge_next(struct charge_context *context, struct charge *charge)
{
    if (!charge_interval_next(&charge->interval, charge->span.end))
        return false;
    charge_fill_interval(context, charge);
    return true;
}

/*
 * If a job was resized at the end of `row`, slurmctld charges part of the time again at the new
 * size.  In this case, fills `charge` for the first interval of that time and returns true;
 * continue with charge_next().  Fills `again` with a row for this charge, which must stay valid as
 * long as the charge.
 */
bool charge_again(struct charge_context *context, const struct job_row *row, struct job_row *again,
                  struct charge *charge);
/*
 * Fills `again` with the row of that charge, if the decay cycle before the resize was at `pass`.
 * Returns false if it has no seconds to charge.
 */
bool charge_again_row(const struct job_row *row, uint64_t pass, struct job_row *again);

/*
 * A consumer of charges.  Every kind of accumulator has this as its first member.  An accumulator
 * for rows is called once a row, after its last interval, with the charge of the whole row.
 */
struct charge_accumulator {
    int (*take)(struct charge_accumulator *accumulator, const struct charge *charge,
                struct error *err);
};

#endif
