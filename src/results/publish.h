/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISH_H
#define FAIRMILL_RESULTS_PUBLISH_H

#include "results/publication.h"

struct error;

/*
 * Publishes the values, priorities and findings of a cluster and the row of the run in one
 * transaction.  It commits only if no other run has published the cluster since this run began.
 *
 * Two mechanisms prevent two runs from publishing a cluster at the same time.  An advisory lock
 * makes a second run stop at once.  The lock can fail to exclude a run, for example with several
 * database servers, with a connection pooler, or after a lost session.  In these cases a fence
 * prevents the second publication.  The fence is the cluster's row of fairmill_lock, which contains
 * the run that published last.  The transaction that publishes fails unless it finds the same run
 * there as at the start of this run.
 *
 * Functions that return int return -1 on error.
 */

/*
 * Takes the lock, reads which run published last, and takes a run_id.  Fails with ERROR_LOCKED if
 * another run holds the lock.  Call publisher_end() afterwards.
 */
int publisher_start(struct publisher *publisher, struct db *db, const struct settings *settings,
                    const char *cluster, struct error *err);

/*
 * Takes only the lock, for callers that do not change published values.  Call publisher_end()
 * afterwards.
 */
int publisher_lock(struct publisher *publisher, struct db *db, const struct settings *settings,
                   const char *cluster, struct error *err);

/*
 * Continues with a new session after the first session broke.  Sets `*published` to whether this
 * run's transaction was committed.  If it was not, takes the lock.
 */
int publisher_resume(struct publisher *publisher, struct db *db, bool *published,
                     struct error *err);

/*
 * Begins the transaction that publishes, for a run that will compute its values while the database
 * removes the old ones.  `source` is the identity of the accounting database.  `looks_through` is
 * the member of the publication.  If it fails, call publisher_publish() nevertheless, which begins
 * again.  Does nothing if the cluster is not locked, or if the database updates in place: then no
 * row is removed, and the transaction need not be open during the computation.
 *
 * Call publisher_publish() or publisher_abandon() next.  Until then, nothing else may use the
 * session.
 */
void publisher_begin(struct publisher *publisher, const char *source, bool looks_through);

/* Rolls back the transaction that publisher_begin() began, if any. */
void publisher_abandon(struct publisher *publisher);

/*
 * Publishes, without a retry.  Fails with ERROR_LOCKED if another run has published since this run
 * began.
 */
int publisher_publish(struct publisher *publisher, const struct publication *publication,
                      const struct run_record *record, struct error *err);

/*
 * Records a failed run in fairmill_run with the error message.  Does not change the published
 * values.  `findings` has the findings from before the failure, or is NULL.
 */
int publisher_record_failure(struct publisher *publisher, const struct run_record *record,
                             const struct findings *findings, struct error *err);

/*
 * Removes the current rows of a cluster that is marked as deleted in the accounting database.
 * Keeps the history of the cluster.
 */
int publisher_retire(struct publisher *publisher, struct error *err);

/* Releases the lock.  Does nothing if the lock is not held. */
void publisher_end(struct publisher *publisher);

/*
 * Calls `take` for each cluster that has only failed runs and no published rows, with "" as its
 * source.
 */
int failed_clusters(struct db *db,
                    int (*take)(void *context, const char *cluster, const char *source),
                    void *context, struct error *err);

/*
 * Calls `take` for each cluster with current rows, with the identity of their accounting database.
 */
int published_sources(struct db *db,
                      int (*take)(void *context, const char *cluster, const char *source),
                      void *context, struct error *err);

#endif
