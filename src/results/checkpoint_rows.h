/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_CHECKPOINT_ROWS_H
#define FAIRMILL_RESULTS_CHECKPOINT_ROWS_H

#include "core/usage/checkpoint.h"
#include "results/stored_days.h"

struct db;
struct error;
struct publisher;

/*
 * Stores the checkpoint (core/usage/checkpoint.h) in the tables fairmill_seal, fairmill_seal_usage,
 * fairmill_seal_open, fairmill_seal_odd and fairmill_seal_slice.
 */

/*
 * A checkpoint that an earlier run stored, without its usage sums.  The run calls
 * checkpoint_read_sums() later, when the snapshot of the accounting database has ended.
 */
struct stored_checkpoint {
    struct checkpoint checkpoint; /* checkpoint.kept is false if no checkpoint is stored */
    struct job_keys open;         /* keys of job rows that had not ended */
    struct day_hashes hashes;     /* hashes of the checkpointed job rows, one for each day */
    struct findings *findings;    /* findings of checkpointed jobs; the caller creates it */
    bool damaged;                 /* the rows do not match their hashes */
    char doubt[160];     /* reason why a run must not continue from the intact checkpoint, or "" */
    bool source_changed; /* `doubt` results from changed rows in the accounting database */
    struct stored_days days; /* set by the caller: stored days of usage */
    bool ahead;              /* set by the caller: the run's time is before the checkpoint time */
};
void stored_checkpoint_free(struct stored_checkpoint *stored);

/*
 * Reads the checkpoint of a cluster without its usage sums.  The caller zeroes `*stored`, sets
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
                         int (*take)(void *context, const struct stored_sum *stored,
                                     struct error *err),
                         void *context, struct error *err);

/* The changes to the checkpoint that a run makes. */
struct checkpoint_change {
    const struct checkpoint *checkpoint;
    bool anew;                     /* the whole stored checkpoint is replaced */
    const struct usage_sums *sums; /* all sums if `anew` is true, else only the changed sums */
    const struct kept_tres *kept;  /* NULL if no TRES is kept */
    /* Unless `anew` is true, stored sums with ids from expired_from up to but not including
     * expired_to are removed. */
    uint64_t expired_from, expired_to;
    /* All open job rows if `anew` is true, else only the newly open job rows. */
    const struct job_keys *opened;
    /* Job rows that are no longer open; unused if `anew` is true. */
    const struct job_keys *ended;
    const struct findings *findings; /* all findings of checkpointed jobs */
    /* all hashes of the new checkpoint, and of the stored checkpoint */
    const struct day_hashes *hashes, *old_hashes;
};

/*
 * Writes the changes to the checkpoint.  Must run inside the transaction that publisher_publish()
 * opened.  Returns -1 on error.
 */
int checkpoint_write(const struct publisher *publisher, const struct checkpoint_change *change,
                     struct error *err);

/* NULL-terminated list of the statements that remove a cluster's checkpoint. */
extern const char *const checkpoint_clears[];

#endif
