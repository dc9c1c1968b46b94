/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_RUNS_H
#define FAIRMILL_IMPORT_RUNS_H

#include <stdbool.h>

#include "import/run.h"

/* The runs that an accounting log tells of, line by line.  A start opens a run; an end, a rerun or
 * an abort of its job closes it.  A run whose start was never told is known by its end alone.  The
 * memory is that of the runs which are open. */

struct suspension_told {
    uint64_t key;        /* of the run */
    uint64_t start, end; /* 0 while it lasts */
};

/* Takes what is told, all of which ends with the call; 0 or -1. */
struct run_taker {
    void *context;
    /* A run that has ended, and whose row is new or, with `stored`, replaces one. */
    int (*run)(void *context, const struct run *run, bool stored, struct error *err);
    int (*suspension)(void *context, const struct suspension_told *suspension, struct error *err);
};

struct runs *runs_create(uint64_t next_key, const struct run_taker *taker);
/* A run that was open when the logs were last read; runs takes what is in it. */
void runs_add_stored(struct runs *runs, struct run *run, uint64_t suspended);
/* What a record tells: 0; 1 where it tells nothing that can be, and why in *err; -1 where the taker
 * failed. */
int runs_take(struct runs *runs, const struct record *record, struct error *err);
/* Hand out the open runs that have no row yet; they have one now. */
int runs_store_open(struct runs *runs, struct error *err);
void runs_destroy(struct runs *runs);

#endif
