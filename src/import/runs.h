/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_RUNS_H
#define FAIRMILL_IMPORT_RUNS_H

#include <stdbool.h>

#include "import/record.h"

/*
 * Derives runs from the records of an accounting log.  A start opens a run.  An end, a rerun or an
 * abort of its job closes the run.  A later start of the job also closes the run, and so does the
 * end of a run that began later.  A checkpoint suspends the run, and a restart resumes it.  If the
 * start of a run is not recorded, the run is derived from its end alone.  An alteration may change
 * the walltime of an open run.
 *
 * Only open runs need memory.
 */

struct suspension_told {
    uint64_t key;        /* key of the run */
    uint64_t start, end; /* epoch seconds; `end` is 0 while the suspension lasts */
};

/* Receives the results.  Its functions must copy all data that they keep, and return 0 or -1. */
struct run_taker {
    void *context;
    /* Receives a run.  If `stored` is true, the run replaces its stored row; otherwise the run has
     * no row yet. */
    int (*run)(void *context, const struct run *run, bool stored, struct error *err);
    int (*suspension)(void *context, const struct suspension_told *suspension, struct error *err);
};

struct runs *runs_create(uint64_t next_key, const struct run_taker *taker);
/*
 * Adds a run that was open after the last import.  `suspended` is the time since when the run is
 * suspended, in epoch seconds, or 0.  Takes the contents of `run` and clears it.
 */
void runs_add_stored(struct runs *runs, struct run *run, uint64_t suspended);
/*
 * Processes a record.  Returns 1, with the reason in *err, if the record is invalid.  Returns -1 if
 * the taker failed, else 0.
 */
int runs_take(struct runs *runs, struct record *record, struct error *err);
/* Passes open runs to the taker if they have no row yet or if their row is outdated. */
int runs_store_open(struct runs *runs, struct error *err);
/* Returns the key of the next run. */
uint64_t runs_next_key(const struct runs *runs);
/* Forgets an open run after its row was removed. */
void runs_drop(struct runs *runs, uint64_t key);
void runs_destroy(struct runs *runs);

#endif
