/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CHARGE_ROW_H
#define FAIRMILL_CHARGE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/usage/usage.h"

struct computation;
struct error;
struct job_row;
struct jobs_seen;
struct ledger_state;
struct rollup_row;
struct sealing;
struct suspension;

/* What one row of the source adds, where, and what is noted of it.  charge_jobs() makes the charger
 * and hands it to the readings (source/layout.h). */

/* What becomes of the rows of one reading. */
enum charge_pass {
    PASS_CHARGE,  /* each is charged where it belongs */
    PASS_EXPIRED, /* rows of the kept sums that are behind the horizon now: taken out of them */
    PASS_LATE,    /* rows that the kept sums cannot have yet: only noted as such */
    PASS_GONE,    /* rows that only the kept sums have, behind the horizon: likewise */
    PASS_REFUND,  /* rows of jobs that were refunded: each is taken back, wherever it was charged */
};

/* What a row adds, or takes back, and the sum; NULL where there is nothing to add. */
struct charge_addition {
    struct wide *sum;
    struct charge_term term;
    bool negative;
    uint64_t association;
};

struct charger {
    const char *cluster;
    struct computation *computation;
    struct sealing *sealing;
    struct charging charging;
    struct suspensions suspensions;
    enum charge_pass pass;
    uint64_t cutoff;   /* of rows that ended at it or before nothing is told */
    uint64_t left_out; /* such ones count for their days only */
    struct jobs_seen *seen;
    struct charge_addition waiting;
    const struct ledger_state *ledger;
};

/* As readings want them; the context is the charger. */
int charge_row_job(void *charger, const struct job_row *row, struct error *err);
/* A suspension is a charge like the job's own, taken back. */
int charge_row_suspension(void *charger, const struct job_row *row,
                          const struct suspension *suspension, struct error *err);
int charge_row_rollup(void *charger, const struct rollup_row *row, struct error *err);
/* Behind the last row of a reading: add what still waits. */
int charge_row_end(struct charger *charger, struct error *err);

/* Whether this run makes the kept sums from the beginning. */
bool charge_sums_all(const struct charger *charger);
void charge_note_least(uint64_t *least, uint64_t value);
int charge_beyond_range(uint64_t association, struct error *err);

#endif
