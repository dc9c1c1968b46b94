/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_RUN_SESSION_H
#define FAIRMILL_RUN_RUN_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "run/clusters.h"

struct computation;
struct publisher;

struct run_options {
    const int64_t *now;            /* NULL: current time */
    bool full;                     /* read all jobs, even if there is a valid checkpoint */
    bool replace;                  /* publish a time older than the published one */
    bool dry_run;                  /* write nothing; pass each computation to `show` */
    struct cluster_names clusters; /* only these; if empty, all */
    void (*complain)(const struct error *err); /* called for each cluster that failed */
    int *unrecorded; /* set to the exit status of a failure that was not recorded; or NULL */
    int (*show)(const struct settings *settings, const char *cluster,
                const struct computation *computation, struct error *err);
};

/*
 * The state of one call of run().  A database session that broke is NULL; it is opened again when
 * needed.
 */
struct run_session {
    const struct settings *settings;
    const struct run_options *options;
    struct db *source, *results;
    char *source_identity;
    int64_t deadline; /* of the current operation, in clock_milliseconds() */
};

int run_session_open_source(struct run_session *session, struct error *err);
int run_session_open_results(struct run_session *session, struct error *err);
void run_session_close(struct run_session *session);

/* Takes a cluster's lock, which publisher_end() releases.  Returns -1 on error. */
int run_session_lock(struct run_session *session, const char *cluster, struct publisher *publisher,
                     struct error *err);
/*
 * Continues the work of a publisher whose session broke, with a new session.  Sets `*published` if
 * its COMMIT had succeeded.  Returns -1 on error.
 */
int run_session_resume(struct run_session *session, struct publisher *publisher, bool *published,
                       struct error *err);

struct error;
struct findings;
struct run_session;

/*
 * A failed run.  Every run that could open the results, also a rejected one, leaves a row that says
 * how it ended.  So readers of the results learn of it.  A run that found another run in progress
 * leaves no row.  If the row cannot be written, the run does not fail for this;
 * failure_unrecorded() records its exit status instead.
 */

struct failure {
    const struct error *reason;
    int64_t began;                   /* when the run began, in clock_milliseconds() */
    const struct findings *findings; /* findings made before the failure; or NULL */
    bool is_there;                   /* the cluster exists in the accounting database */
};

/* Sets `*session->options->unrecorded`, unless another run is in progress. */
void failure_unrecorded(const struct run_session *session, const struct error *reason);

/*
 * Record a failure of a cluster: the first function if this run holds its lock, the second one if
 * not.
 */
void failure_record(struct run_session *session, struct publisher *publisher,
                    const struct failure *failure);
void failure_record_of(struct run_session *session, const char *cluster,
                       const struct failure *failure);
/*
 * Records a failure before the first cluster of the run, for each cluster that was to be run.
 * These are the requested clusters, or else all clusters whose last run used this source.  If the
 * results contain none of them, records it for the cluster ''.
 */
void failure_record_all(struct run_session *session, const struct failure *failure);

#endif
