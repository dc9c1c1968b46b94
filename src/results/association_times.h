/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_ASSOCIATION_TIMES_H
#define FAIRMILL_RESULTS_ASSOCIATION_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct association_times;
struct db;
struct error;
struct published;
struct published_cluster;
struct publisher;

/* Sets *recorded if fairmill_share_past has rows of the cluster.  Returns -1 on error. */
int association_times_recorded(struct db *db, const char *cluster, bool *recorded,
                               struct error *err);

/* Inside the transaction that publisher_publish() has open: add rows to fairmill_share_past.
 * Returns -1 on error. */
int association_times_write(const struct publisher *publisher,
                            const struct association_times *times, struct error *err);

/* In such a transaction, too: remove these rows, so that the next run records them again. */
int association_times_forget(const struct publisher *publisher, struct error *err);

/* How far back a cluster's associations are known. */
struct association_times_known {
    int64_t by_runs; /* the first run that recorded them; INT64_MAX: none did */
    bool by_source;  /* whether earlier states are known from the accounting database */
};

/* Appends all recorded states of a cluster's associations, with names in UTF-8: before the first
 * run that recorded them, the states in fairmill_share_past, or else the states that this run saw;
 * without any such run, the published ones.  Between two runs, states in fairmill_share_past count,
 * too.  A change that only a run saw counts from the time at which the source modified the
 * association last, or from that run if the time is unknown.  Returns -1 on error. */
int association_times_read(struct published *published, const struct published_cluster *cluster,
                           struct association_times *times, struct association_times_known *known,
                           struct error *err);

#endif
