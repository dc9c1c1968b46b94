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

/* Sets `*recorded` to whether fairmill_share_past has rows of the cluster.  Returns -1 on error. */
int association_times_recorded(struct db *db, const char *cluster, bool *recorded,
                               struct error *err);

/*
 * Adds rows to fairmill_share_past.  Must run inside the transaction that publisher_publish()
 * opened.  Returns -1 on error.
 */
int association_times_write(const struct publisher *publisher,
                            const struct association_times *times, struct error *err);

/*
 * Removes the cluster's rows of fairmill_share_past and their hash, so that the next run records
 * them again.  Must run inside the transaction that publisher_publish() opened.
 */
int association_times_forget(const struct publisher *publisher, struct error *err);

/* How far back a cluster's associations are known. */
struct association_times_known {
    int64_t by_runs; /* time of the first run that recorded associations; INT64_MAX if no run did */
    bool by_source;  /* earlier states are known from the accounting database */
};

/*
 * Reads all recorded states of a cluster's associations into `times`, with names in UTF-8.  Sets
 * `*known`.  Returns -1 on error.
 *
 * States before the first run that recorded associations come from fairmill_share_past.  If that
 * table has no such states, the states that the first run recorded also apply to all earlier times.
 * If no run recorded associations and fairmill_share_past is empty, the published associations are
 * used.  States in fairmill_share_past are also used for times between two runs.
 *
 * A change that a run recorded applies from the time of the association's last modification in the
 * accounting database.  The change applies from the time of the run if the modification time is
 * unknown.  The same rule applies if the modification time is not between the times of this run and
 * the previous run.
 */
int association_times_read(struct published *published, const struct published_cluster *cluster,
                           struct association_times *times, struct association_times_known *known,
                           struct error *err);

#endif
