/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_CHECKPOINT_ROWS_H
#define FAIRMILL_RESULTS_CHECKPOINT_ROWS_H

#include "core/usage/checkpoint.h"
#include "results/day_store.h"

struct db;
struct error;
struct publisher;

/* The checkpoint of core/usage/checkpoint.h in tables: fairmill_seal, fairmill_seal_usage,
 * fairmill_seal_open, fairmill_seal_odd and fairmill_seal_slice. */

/* What an earlier run kept, without the sums: these stay in the database until the source's
 * snapshot is over. */
struct stored_checkpoint {
    struct checkpoint checkpoint; /* seal.kept is false where nothing was kept */
    struct job_keys open;         /* rows that had not ended */
    struct day_hashes hashes;     /* rows in the sums */
    struct findings *findings;    /* of rows in the sums; made by the caller */
    bool damaged;                 /* it is not what was stored */
    char doubt[160];         /* why it is not to be gone on from, though it is as stored; or "" */
    bool source_changed;     /* it is the source's rows that cast it */
    struct stored_days days; /* for the caller to read: days of usage */
    bool ahead;              /* for the caller: the run is for an instant before the seal's */
};
void stored_checkpoint_free(struct stored_checkpoint *stored);
int checkpoint_read(struct db *db, const char *cluster, struct stored_checkpoint *stored,
                    struct error *err);

/* Call `take` for every kept sum, in no order. */
int checkpoint_read_sums(struct db *db, const char *cluster,
                         int (*take)(void *context, uint64_t id, const struct wide *sum,
                                     struct error *err),
                         void *context, struct error *err);

/* What a run keeps for the next. */
struct checkpoint_change {
    const struct checkpoint *checkpoint;
    bool anew;                       /* all that was kept is replaced */
    const struct usage_sums *sums;   /* anew: all; else those that changed */
    const struct job_keys *opened;   /* anew: all rows that are open; else those that were not */
    const struct job_keys *ended;    /* not anew: those that are not open any more */
    const struct findings *findings; /* all */
    const struct day_hashes *hashes, *old_hashes; /* all; and those that are stored */
};
/* Inside the transaction that publisher_publish() has open. */
int checkpoint_write(const struct publisher *publisher, const struct checkpoint_change *change,
                     struct error *err);
/* The statements, ended by NULL, that remove what is kept for a cluster. */
extern const char *const checkpoint_clears[];

#endif
