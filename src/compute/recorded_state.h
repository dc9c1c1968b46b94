/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_RECORDED_STATE_H
#define FAIRMILL_COMPUTE_RECORDED_STATE_H

#include <stdint.h>

struct db;
struct error;
struct factor_history;
struct ledger;
struct association_history;
struct settings;

/* The data of a cluster that is loaded from the results database before it is computed. */
struct recorded_state {
    struct ledger *ledger;               /* NULL if there are no entries */
    struct factor_history *factors;      /* NULL if runs have recorded no factors */
    struct association_history *unseen;  /* of a period without runs, for which association states
                                          * must still be recorded; or NULL */
    struct tres_numbers *numbers;        /* of the TRES to keep; NULL to keep no TRES */
    struct association_history *history; /* with the runs' observations; NULL if the time is now */
};

/*
 * Discards everything except the ledger, and prepares for the time `*now`; NULL means the current
 * time.
 */
void recorded_state_begin(struct recorded_state *recorded, const int64_t *now);
/* Discards and reads everything except the ledger.  Returns -1 on error. */
int recorded_state_read_records(struct recorded_state *recorded, struct db *results,
                                const char *cluster, const int64_t *now, struct error *err);
/*
 * Reads the numbers of the TRES to keep, for a run that computes usage by TRES.  `results` may be
 * NULL; no number is then assigned yet.  Returns -1 on error.
 */
int recorded_state_read_numbers(struct recorded_state *recorded, struct db *results,
                                const char *cluster, struct error *err);
/*
 * Sets `unseen` if no run has recorded the association states of the past yet, or if the last run
 * was more than an hour ago.  Returns -1 on error.
 */
int recorded_state_read_unseen(struct recorded_state *recorded, struct db *results,
                               const char *cluster, const int64_t *now, struct error *err);
/*
 * Reads the recorded state with its own session.  The state is empty if there are no result tables.
 * Returns -1 on error.  Free the state with recorded_state_free().
 */
int recorded_state_read(struct recorded_state *recorded, const struct settings *settings,
                        const char *cluster, const int64_t *now, struct error *err);
void recorded_state_free(struct recorded_state *recorded);

#endif
