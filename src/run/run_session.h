/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_RUN_SESSION_H
#define FAIRMILL_RUN_RUN_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "run/clusters.h"

struct computation;
struct publisher;

struct run_options {
    const int64_t *now; /* NULL for the current time */
    bool full;          /* read all jobs, even if there is a valid checkpoint */
    bool repair;        /* repair rows even in columns that no run uses */
    bool replace;       /* publish values even if their time is before the published time */
    bool dry_run;       /* write nothing; pass each computation to `show` */
    struct cluster_names clusters;             /* the clusters to process; all if empty */
    void (*complain)(const struct error *err); /* called for each cluster that failed */
    int *unrecorded; /* set to the exit status of a failure that was not recorded; or NULL */
    int (*show)(const struct settings *settings, const char *cluster,
                const struct computation *computation, struct error *err);
};

/*
 * The state of one call of run().  The session of a database is NULL while it is not open.  It is
 * opened when it is needed.
 */
struct run_session {
    const struct settings *settings;
    const struct run_options *options;
    struct db *source, *results;
    char *source_identity;
    int64_t deadline; /* deadline of the current operation, in clock_milliseconds() */
};

int run_session_open_source(struct run_session *session, struct error *err);
int run_session_open_results(struct run_session *session, struct error *err);
void run_session_close(struct run_session *session);

/* Takes a cluster's lock, which publisher_end() releases.  Returns -1 on error. */
int run_session_lock(struct run_session *session, const char *cluster, struct publisher *publisher,
                     struct error *err);
/*
 * Opens a new session for a publisher whose session broke.  Sets `*published` if the COMMIT in the
 * old session had succeeded.  Returns -1 on error.
 */
int run_session_resume(struct run_session *session, struct publisher *publisher, bool *published,
                       struct error *err);

struct error;
struct findings;
struct run_session;

/*
 * A failed run.  Every run that could open the results, even a rejected run, writes a row that
 * shows how the run ended.  So users who may only query results also see the failure.  A run writes
 * no row if it finds another run in progress.  If the row cannot be written, failure_unrecorded()
 * keeps the exit status of the failure.
 */

struct failure {
    const struct error *reason;
    int64_t began;                   /* when the run began, in clock_milliseconds() */
    const struct findings *findings; /* findings from before the failure; or NULL */
    bool is_there;                   /* the cluster exists in the accounting database */
};

/* Sets `*session->options->unrecorded`, unless the failure is that another run is in progress. */
void failure_unrecorded(const struct run_session *session, const struct error *reason);

/*
 * Record a failure of a cluster.  Call failure_record() if this run holds the cluster's lock, and
 * failure_record_of() otherwise.
 */
void failure_record(struct run_session *session, struct publisher *publisher,
                    const struct failure *failure);
void failure_record_of(struct run_session *session, const char *cluster,
                       const struct failure *failure);
/*
 * Records a failure before the first cluster of the run, for each cluster that the run was to
 * process.  These are the requested clusters, or else the clusters of the settings.  Omits clusters
 * whose last run used another source, unless this is the case for all of them.  If the results
 * contain none of these clusters, records the failure for the cluster ''.
 */
void failure_record_all(struct run_session *session, const struct failure *failure);

#endif
