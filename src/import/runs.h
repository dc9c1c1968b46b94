/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_RUNS_H
#define FAIRMILL_IMPORT_RUNS_H

#include <stdbool.h>

#include "import/record.h"

/*
 * Derives job executions (struct run) from the records of an accounting log.  An execution is open
 * from its start until a record closes it.  An end, a rerun or an abort of the job closes the
 * execution.  A later start of the job also closes it, and so does the end of an execution that
 * began later.  OpenPBS's checkpoint of a job suspends the execution, and a restart resumes it.  If
 * the start of an execution is not recorded, the execution is derived from its end alone.  An
 * alteration may change the walltime of an open execution.
 *
 * Only open executions are kept in memory.
 */

struct suspension_told {
    uint64_t key;        /* key of the job execution */
    uint64_t start, end; /* epoch seconds; `end` is 0 while the suspension lasts */
};

/* Receives the results.  Its functions must copy all data that they keep, and return 0 or -1. */
struct run_taker {
    void *context;
    /* Receives a job execution.  If `stored` is true, it replaces its stored row; otherwise it has
     * no row yet. */
    int (*run)(void *context, const struct run *run, bool stored, struct error *err);
    int (*suspension)(void *context, const struct suspension_told *suspension, struct error *err);
};

struct runs *runs_create(uint64_t next_key, const struct run_taker *taker);
/*
 * Adds a job execution that was open after the last import.  `suspended` is the time, in epoch
 * seconds, from which the execution is suspended, or 0 if it is not suspended.  Takes the contents
 * of `run` and clears it.
 */
void runs_add_stored(struct runs *runs, struct run *run, uint64_t suspended);
/*
 * Processes a record.  Returns 1, with the reason in *err, if the record is invalid.  Returns -1 if
 * the taker failed, else 0.
 */
int runs_take(struct runs *runs, struct record *record, struct error *err);
/*
 * Passes open job executions to the taker if they have no row yet or if their row is outdated.
 * Returns -1 if the taker failed.
 */
int runs_store_open(struct runs *runs, struct error *err);
/* Returns the key that the next new job execution will get. */
uint64_t runs_next_key(const struct runs *runs);
/* Forgets the open job execution with this key, if any, after its row was removed. */
void runs_drop(struct runs *runs, uint64_t key);
void runs_destroy(struct runs *runs);

#endif
