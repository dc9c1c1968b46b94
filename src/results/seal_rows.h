/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SEAL_ROWS_H
#define FAIRMILL_RESULTS_SEAL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct db;
struct error;
struct findings;
struct job_keys;
struct publisher;
struct seal;
struct usage_sums;
struct wide;

/* The seal of core/seal.h in tables: fairmill_seal, fairmill_seal_usage, fairmill_seal_open and
 * fairmill_seal_odd. */

/* What was kept for a cluster but the sums; *damaged where it is not what was stored.  Without
 * anything kept, seal->kept is false. */
int seal_read(struct db *db, const char *cluster, struct seal *seal, struct job_keys *open,
              struct findings *findings, bool *damaged, struct error *err);

/* Hand every kept sum to `take`, in no order. */
int seal_read_sums(struct db *db, const char *cluster,
                   int (*take)(void *context, uint64_t id, const struct wide *sum,
                               struct error *err),
                   void *context, struct error *err);

/* What a run leaves. */
struct seal_change {
    const struct seal *seal;
    bool anew;                       /* nothing of what was kept stays */
    const struct usage_sums *sums;   /* anew: all; else those that changed */
    const struct job_keys *opened;   /* anew: all rows that are open; else those that were not */
    const struct job_keys *ended;    /* not anew: those that are open no more */
    const struct findings *findings; /* all */
};
/* Inside the transaction that publisher_publish() has open. */
int seal_write(const struct publisher *publisher, const struct seal_change *change,
               struct error *err);
/* Nothing is kept for the cluster any more. */
int seal_clear(const struct publisher *publisher, struct error *err);

#endif
