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

/* What is known from the results database of a cluster before it is computed. */
struct recorded_state {
    struct ledger *ledger;              /* counts up to now; NULL: an empty one */
    struct factor_history *factors;     /* NULL: runs have noted none */
    struct association_history *unseen; /* the time that no run saw, and of which the states of
                                         * associations are to be recorded; NULL: there is none */
    struct association_history
        *history; /* NULL: the instant is now.  Else the associations are those of its
                   * instant, and what runs have noted of them is already in it */
};

/* Nothing is known but the ledger that is there; `now` NULL is now. */
void recorded_state_begin(struct recorded_state *recorded, const int64_t *now);
/* Read all but the ledger; what is there of it goes. */
int recorded_state_read_records(struct recorded_state *recorded, struct db *results,
                                const char *cluster, const int64_t *now, struct error *err);
/* Read which time no run saw: before the first one, or since the last one. */
int recorded_state_read_unseen(struct recorded_state *recorded, struct db *results,
                               const char *cluster, const int64_t *now, struct error *err);
/* Read them with a session of their own; without result tables there is nothing. */
int recorded_state_read(struct recorded_state *recorded, const struct settings *settings,
                        const char *cluster, const int64_t *now, struct error *err);
void recorded_state_free(struct recorded_state *recorded);

#endif
