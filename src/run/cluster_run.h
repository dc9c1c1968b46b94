/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_CLUSTER_RUN_H
#define FAIRMILL_RUN_CLUSTER_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct publisher;
struct run_session;

/* A run's work on one cluster: lock, read, compute, publish. */
int run_cluster(struct run_session *session, const char *cluster, struct error *err);
/* The same as a dry run: compute it and hand it to `show` of the options. */
int show_cluster(struct run_session *session, const char *cluster, struct error *err);

/* The same as the run that published, which began at `started_at`, would compute now. */
struct computed_again {
    int64_t started_at;
    bool notes_entries;      /* it noted which entries of the ledger it counted; 0.1.0 did not */
    bool checkpoint_damaged; /* set: the seal is not what was stored */
    int64_t associations;
};
/* Compute it and publish it into the publisher's session, a witness, which has the instant's run.
 */
int compute_again(struct run_session *session, struct publisher *publisher,
                  struct computed_again *again, struct error *err);

#endif
