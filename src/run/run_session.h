/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_RUN_SESSION_H
#define FAIRMILL_RUN_RUN_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "run/clusters.h"

struct computation;
struct publisher;

struct run_options {
    const int64_t *now;            /* NULL: the wall clock */
    bool full;                     /* read all jobs, whatever was kept of earlier runs */
    bool replace;                  /* publish an instant older than what is published */
    bool dry_run;                  /* write nothing, hand each computation to `show` */
    struct cluster_names clusters; /* only these; none: all */
    void (*complain)(const struct error *err); /* for each cluster that failed */
    int *unrecorded; /* set to the exit status of a failure that left no row; or NULL */
    int (*show)(const struct settings *settings, const char *cluster,
                const struct computation *computation, struct error *err);
};

/* What one call of run() has at hand.  A database session that broke is NULL, and is opened
 * again. */
struct run_session {
    const struct settings *settings;
    const struct run_options *options;
    struct db *source, *results;
    char *source_identity;
    int64_t deadline; /* of what is done now, in clock_milliseconds() */
};

int run_session_open_source(struct run_session *session, struct error *err);
int run_session_open_results(struct run_session *session, struct error *err);
void run_session_close(struct run_session *session);

/* Take a cluster's lock, to be given back with publisher_end(). */
int run_session_lock(struct run_session *session, const char *cluster, struct publisher *publisher,
                     struct error *err);
/* Go on with the work of a publisher whose session broke, with a new one; *published where its
 * COMMIT had worked. */
int run_session_resume(struct run_session *session, struct publisher *publisher, bool *published,
                       struct error *err);

struct error;
struct findings;
struct run_session;

/* Every run that could open the results leaves a row that says how it ended, a refused one too, so
 * that whoever looks at the results learns of it.  A run that found another one at work leaves
 * none.  A row that cannot be written is no failure of the run: failure_unrecorded() notes it. */

struct failure {
    const struct error *reason;
    int64_t began;                   /* in clock_milliseconds() */
    const struct findings *findings; /* what it found all the same; NULL: none */
    bool is_there;                   /* the cluster was found in the accounting database */
};

/* Sets *session->options->unrecorded, unless another run is at work. */
void failure_unrecorded(const struct run_session *session, const struct error *reason);

/* Of a cluster whose lock this run has taken, and of one whose lock it has not. */
void failure_record(struct run_session *session, struct publisher *publisher,
                    const struct failure *failure);
void failure_record_of(struct run_session *session, const char *cluster,
                       const struct failure *failure);
/* Of all clusters that the run was about, before any was begun: those that were asked for, else
 * those that runs with this source were about last.  Where the results know none of them it is a
 * row of the cluster ''. */
void failure_record_all(struct run_session *session, const struct failure *failure);

#endif
