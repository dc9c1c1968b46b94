/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CHARGE_H
#define FAIRMILL_CHARGE_H

#include "core/usage/usage.h"

struct error;

/* A charge: what a row of the source adds to the usage of the row's association, or takes off it.
 * A suspension is a charge like that of its job, taken off. */
struct charge {
    const struct job_row *row;
    uint64_t ended; /* when the row did; 0 where it is open */
    enum job_outcome outcome;
    bool negative;              /* it is taken off */
    bool sealed;                /* the row belongs to the sums that are kept */
    bool expired;               /* it ended by the cutoff: only its days count */
    uint64_t first;             /* the first second that counts, resets of associations aside;
                                 * UINT64_MAX where none does */
    struct charge_term used;    /* what was used; also what counts for its days only */
    struct charge_term counted; /* the part that counts for usage; units are 0 where none does */
};

/* What charges are made by. */
struct charger {
    struct charging charging;
    const struct ledger_state *ledger;
    const struct seal *seal; /* the one that the run leaves; NULL: no row is sealed */
    bool negative;           /* charges are taken off */
    uint64_t cutoff;         /* what ended by then has expired */
    uint64_t left_out;       /* nothing of what ended by then counts for usage */
    struct suspensions suspensions;
};

/* Make the charge of a row; it holds as long as the row. */
void charge_make(struct charger *charger, const struct job_row *row, struct charge *charge);

/* Who takes charges.  Each kind of sink begins with this. */
struct charge_sink {
    int (*take)(struct charge_sink *sink, const struct charge *charge, struct error *err);
};

#endif
