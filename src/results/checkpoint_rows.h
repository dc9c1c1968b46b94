/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_CHECKPOINT_ROWS_H
#define FAIRMILL_RESULTS_CHECKPOINT_ROWS_H

#include "core/usage/checkpoint.h"
#include "results/day_store.h"

struct db;
struct error;
struct publisher;

/*
 * Stores the checkpoint (core/usage/checkpoint.h) in the tables fairmill_seal, fairmill_seal_usage,
 * fairmill_seal_open, fairmill_seal_odd and fairmill_seal_slice.
 */

/*
 * A checkpoint that an earlier run stored, without its usage sums.  The sums stay in the database
 * until the snapshot of the accounting database ends; checkpoint_read_sums() reads them.
 */
struct stored_checkpoint {
    struct checkpoint checkpoint; /* checkpoint.kept is false if no checkpoint is stored */
    struct job_keys open;         /* keys of job rows that had not ended */
    struct day_hashes hashes;     /* hashes of the checkpointed job rows, by day */
    struct findings *findings;    /* findings of checkpointed jobs; the caller creates it */
    bool damaged;                 /* the rows do not match their hashes */
    char doubt[160]; /* why a run must not continue from it although it is intact; "" if it may */
    bool source_changed;     /* `doubt` results from changed rows in the accounting database */
    struct stored_days days; /* set by the caller: stored days of usage */
    bool ahead;              /* set by the caller: the run's time is before the checkpoint time */
};
void stored_checkpoint_free(struct stored_checkpoint *stored);

/*
 * Reads the checkpoint of a cluster, all but the sums.  The caller zeroes `*stored`, sets
 * stored->findings, and frees the content with stored_checkpoint_free().  If the rows do not match
 * their hashes, sets stored->damaged and succeeds.  Returns -1 if a query fails.
 */
int checkpoint_read(struct db *db, const char *cluster, struct stored_checkpoint *stored,
                    struct error *err);

/*
 * Calls `take` for each stored sum, in unspecified order, until it returns nonzero.  Returns -1 if
 * a query or `take` fails.
 */
int checkpoint_read_sums(struct db *db, const char *cluster,
                         int (*take)(void *context, uint64_t id, const struct wide *sum,
                                     struct error *err),
                         void *context, struct error *err);

/* The changes to the checkpoint that a run makes. */
struct checkpoint_change {
    const struct checkpoint *checkpoint;
    bool anew;                     /* everything that is stored is replaced */
    const struct usage_sums *sums; /* all if everything is replaced, else the changed ones */
    /* Job rows: all open ones if everything is replaced, else the newly open ones. */
    const struct job_keys *opened;
    /* Job rows that are no longer open; unused if everything is replaced. */
    const struct job_keys *ended;
    const struct findings *findings;              /* all */
    const struct day_hashes *hashes, *old_hashes; /* all new hashes; the stored ones */
};

/*
 * Writes a change.  Must run inside the transaction that publisher_publish() opened.  Returns -1 on
 * error.
 */
int checkpoint_write(const struct publisher *publisher, const struct checkpoint_change *change,
                     struct error *err);

/* NULL-terminated list of the statements that remove a cluster's checkpoint. */
extern const char *const checkpoint_clears[];

#endif
