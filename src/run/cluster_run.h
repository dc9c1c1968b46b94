/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CLUSTER_RUN_H
#define FAIRMILL_CLUSTER_RUN_H

struct error;
struct run_session;

/* A run's work on one cluster: lock, read, compute, publish. */
int run_cluster(struct run_session *session, const char *cluster, struct error *err);
/* The same as a dry run: compute it and hand it to `show` of the options. */
int show_cluster(struct run_session *session, const char *cluster, struct error *err);

#endif
