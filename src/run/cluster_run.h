/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_CLUSTER_H
#define FAIRMILL_RUN_CLUSTER_H

#include <stdint.h>

struct db;
struct error;
struct ledger;
struct past;
struct publisher;
struct run_options;
struct settings;

/* A run's work on one cluster: lock, read, compute, publish.  For run.c alone. */

/* What one call of run() has at hand.  A session that broke is NULL, and is opened again. */
struct session {
    const struct settings *settings;
    const struct run_options *options;
    struct db *source, *results;
    char *source_identity;
    struct ledger *ledger; /* of the cluster that is at work */
    struct past *past;     /* likewise, where the run is of an instant that is over */
    int64_t deadline;      /* of what is done now, in clock_milliseconds() */
};

/* Take a cluster's lock, to be given back with publisher_end(). */
int start_publisher(struct session *session, const char *cluster, struct publisher *publisher,
                    struct error *err);

/* Publish a cluster; or compute it and hand it to `show` of the options, where it is a dry run. */
int run_cluster(struct session *session, const char *cluster, struct error *err);
int show_cluster(struct session *session, const char *cluster, struct error *err);

#endif
