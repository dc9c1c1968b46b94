/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISH_H
#define FAIRMILL_RESULTS_PUBLISH_H

#include "results/publication.h"

struct error;

/* Publishing a cluster: values, priorities, findings and the run's own row in one transaction,
 * which commits only if nobody else published in between.
 *
 * Two things keep runs apart.  An advisory lock makes a second run give way at once.  Where that
 * lock does not reach (a cluster of database servers, a pooler, a lost session), the fence does:
 * fairmill_lock holds the run that published last, and the publishing transaction must find there
 * what it found when the run began. */

/* Take the lock, see what is published, take a run_id.  ERROR_LOCKED if another run is at it. */
int publisher_start(struct publisher *publisher, struct db *db, const struct settings *settings,
                    const char *cluster, struct error *err);
/* Take the lock only, for who changes nothing that a run publishes; publisher_end() is due then. */
int publisher_lock(struct publisher *publisher, struct db *db, const struct settings *settings,
                   const char *cluster, struct error *err);
/* The same for another session after the first one broke.  *published is whether this run's
 * transaction had been committed after all. */
int publisher_resume(struct publisher *publisher, struct db *db, bool *published,
                     struct error *err);
/* Try once.  ERROR_LOCKED if somebody else published since the run began. */
int publisher_publish(struct publisher *publisher, const struct publication *publication,
                      const struct run_record *record, struct error *err);
/* Record a run that failed: the results stay as they are, and fairmill_run says why.  `findings`
 * (NULL: none) are what it found all the same. */
int publisher_record_failure(struct publisher *publisher, const struct run_record *record,
                             const struct findings *findings, struct error *err);
/* Remove the current rows of a cluster that is marked as deleted in the source; history stays. */
int publisher_retire(struct publisher *publisher, struct error *err);
void publisher_end(struct publisher *publisher);

/* Hand out, with "" as their source, the clusters that have no rows and failed runs only. */
int failed_clusters(struct db *db,
                    int (*take)(void *context, const char *cluster, const char *source),
                    void *context, struct error *err);
/* Call `take` for each cluster that has current rows, with the source they came from. */
int published_sources(struct db *db,
                      int (*take)(void *context, const char *cluster, const char *source),
                      void *context, struct error *err);

#endif
