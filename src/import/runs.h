/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_RUNS_H
#define FAIRMILL_IMPORT_RUNS_H

#include <stdbool.h>

#include "import/record.h"

/* The runs that an accounting log contains, line by line.  A start opens a run; an end, a rerun or
 * an abort of its job closes it, and so does a later start of its job, or the end of a run that
 * began later.  A checkpoint suspends it, and a restart resumes it.  A run whose start is not
 * recorded is known by its end alone.  An alteration may change the walltime of an open run.  Only
 * open runs need memory. */

struct suspension_told {
    uint64_t key;        /* of the run */
    uint64_t start, end; /* 0 while it lasts */
};

/* Takes what is told, all of which ends with the call; 0 or -1. */
struct run_taker {
    void *context;
    /* A run, whose row is new or, with `stored`, replaces one. */
    int (*run)(void *context, const struct run *run, bool stored, struct error *err);
    int (*suspension)(void *context, const struct suspension_told *suspension, struct error *err);
};

struct runs *runs_create(uint64_t next_key, const struct run_taker *taker);
/* A run that was open when the logs were last read; runs takes what is in it. */
void runs_add_stored(struct runs *runs, struct run *run, uint64_t suspended);
/* What a record tells: 0; 1 where it tells nothing that can be, and why in *err; -1 where the taker
 * failed. */
int runs_take(struct runs *runs, struct record *record, struct error *err);
/* Hand out the open runs that have no row yet, or a row that is not true any more. */
int runs_store_open(struct runs *runs, struct error *err);
/* The key of the next run. */
uint64_t runs_next_key(const struct runs *runs);
/* Forget an open run, whose row was removed. */
void runs_drop(struct runs *runs, uint64_t key);
void runs_destroy(struct runs *runs);

#endif
