/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_CHARGE_H
#define FAIRMILL_COMPUTE_CHARGE_H

#include "core/usage/kept_tres.h"
#include "core/usage/usage_owners.h"

struct error;

/*
 * A charge: usage that one charge interval of a row (core/usage/usage_owners.h) adds or subtracts.
 * A suspension is charged like its job, with the opposite sign.
 */
struct charge {
    const struct job_row *row;
    uint64_t number; /* number of the row in its scan, from 1; distinguishes rows of one job with
                      * the same times */
    struct job_span span;     /* the time for which the row is charged */
    uint64_t ended;           /* when the row ended; 0 if it is open */
    bool negative;            /* subtract the charge */
    bool again;               /* the same time was charged before, see charge_again() */
    bool checkpointed;        /* the row ended before the checkpoint time */
    bool left_out;            /* the row ended at or before charge_context.left_out */
    bool expired;             /* the row ended at or before charge_context.cutoff */
    enum job_outcome outcome; /* outcome of the row after the intervals so far */
    uint64_t first; /* first second of the intervals so far that is included in usage; resets of
                     * single associations are ignored; UINT64_MAX if there is no such second */
    struct slice interval;      /* slice.association is the usage owner */
    struct charge_term used;    /* usage, even if it is added only to the daily usage */
    struct charge_term counted; /* the part of `used` that is included in usage; its weight is 0 if
                                 * there is no such part */
    const uint64_t *tres; /* counts of the kept TRES, indexed as kept->tres; NULL if none is used */
};

/* The settings and state with which rows are charged. */
struct charge_context {
    struct charging charging;
    const struct ledger_state *ledger;
    const struct passes *passes; /* slurmctld's registrations, from which the times of its decay
                                  * cycles are computed */
    uint64_t period;             /* period of the decay cycles, in seconds */
    uint64_t recent; /* in seconds.  For a resize that was at most this long ago, the time of the
                      * decay cycle before it is computed from `passes`.  A row that ended so
                      * recently is never checkpointed. */
    const struct usage_owners *owners;   /* NULL if each association owns its usage */
    const struct checkpoint *checkpoint; /* the plan's checkpoint; or NULL */
    bool negative;                       /* subtract the charges */
    uint64_t cutoff;                     /* rows that ended at or before this time are `expired` */
    uint64_t left_out; /* rows that ended at or before this time are not included in usage */
    struct suspensions suspensions;
    const struct kept_tres *kept;     /* TRES whose usage is kept apart from the charge; or NULL */
    uint64_t counts[KEPT_TRES_LIMIT]; /* of the current row */
    uint64_t rows;                    /* number of rows charged */
};

/* Fills `charge` for the first interval of `row`, which must stay valid as long as the charge. */
void charge_begin(struct charge_context *context, const struct job_row *row, struct charge *charge);
/* Recomputes `charge` for its current interval and span.  Call charge_next() instead. */
void charge_fill_interval(struct charge_context *context, struct charge *charge);
/*
 * Advances `charge` to the next interval of the row.  Returns false after the last interval;
 * `outcome` and `first` then apply to the whole row.
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
 * Fills `again` with the row that charge_again() charges if the last decay cycle before the resize
 * was at `pass`.  Returns false if that row has no seconds to charge.
 */
bool charge_again_row(const struct job_row *row, uint64_t pass, struct job_row *again);

/*
 * A consumer of charges.  Every kind of accumulator has this as its first member.  A row
 * accumulator is called once for each row, after the last interval.  `first` and `outcome` of the
 * charge then apply to the whole row.
 */
struct charge_accumulator {
    int (*take)(struct charge_accumulator *accumulator, const struct charge *charge,
                struct error *err);
};

#endif
