/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_CLUSTER_RUN_H
#define FAIRMILL_RUN_CLUSTER_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct publisher;
struct run_session;

/*
 * Makes a run for one cluster: locks, reads, computes and publishes it.  If this fails, records the
 * failure.  Returns -1 on error.
 */
int run_cluster(struct run_session *session, const char *cluster, struct error *err);
/*
 * Makes a dry run of one cluster: computes it and passes it to `show` of the options.  Returns -1
 * on error.
 */
int show_cluster(struct run_session *session, const char *cluster, struct error *err);

/* Parameters and results of compute_again(). */
struct computed_again {
    int64_t started_at; /* in: when the run began */
    bool notes_entries; /* in: the run recorded the ledger entries that it applied; a run of 0.1.0
                         * did not */
    bool checkpoint_damaged; /* out: the checkpoint is damaged */
    int64_t associations;    /* out: number of computed associations */
};
/*
 * Computes the values of the publisher's run again, for the same time, and publishes them into the
 * publisher's session.  The publisher's session must be a verifier, which compares rows and writes
 * nothing.  Returns -1 on error.
 */
int compute_again(struct run_session *session, struct publisher *publisher,
                  struct computed_again *again, struct error *err);

#endif
