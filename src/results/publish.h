/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISH_H
#define FAIRMILL_RESULTS_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

struct days;
struct db;
struct error;
struct findings;
struct names;
struct queue;
struct seal_change;
struct settings;
struct tree;
struct values;

/* Publishing a cluster: values, priorities, findings and the run's own row in one transaction,
 * which commits only if nobody else published in between.
 *
 * Two things keep runs apart.  An advisory lock makes a second run give way at once.  Where that
 * lock does not reach (a cluster of database servers, a pooler, a lost session), the fence does:
 * fairmill_lock holds the run that published last, and the publishing transaction must find there
 * what it found when the run began. */

struct publisher {
    struct db *db;
    const struct settings *settings;
    const char *cluster;
    char lock[64];
    bool locked;
    int64_t seen_run; /* what the fence held when the run began; 0: nothing yet */
    int64_t run_id;   /* ours: above every earlier one in this database */
    bool has_published;
    int64_t published_as_of;
};

/* A row of fairmill_run.  NAN and -1 are NULL. */
struct run_record {
    int64_t as_of, started_at, duration_ms;
    const char *kind, *why;
    int64_t associations, users, jobs_read;
    double unattributed_usage; /* TRES-seconds without an association */
    double truncation_bound;   /* no value lacks a larger part than this for want of older rows */
    int64_t source_newest;     /* the newest instant in the job rows */
    int64_t source_lag;        /* seconds that as_of is ahead of it */
    double drift_max;          /* a full run's: how far the seal was from the truth, TRES-seconds */
    int64_t drifted;           /* and for how many associations */
    const char *message;
};

struct publication {
    const struct tree *tree;
    const struct values *values;
    const struct names *names;
    const struct queue *queue; /* jobs that wait; NULL: there are none */
    const struct findings *findings;
    const char *source;             /* the source's identity */
    const struct seal_change *seal; /* NULL: the seal stays as it is */
    int64_t seen_at;   /* when the source had the tree so; -1: that is not sure, and is not noted */
    struct days *days; /* NULL: the usage of days does */
};

/* Take the lock, see what is published, take a run_id.  ERROR_LOCKED if another run is at it. */
int publisher_start(struct publisher *publisher, struct db *db, const struct settings *settings,
                    const char *cluster, struct error *err);
/* The same for another session after the first one broke.  *published is whether this run's
 * transaction had been committed after all. */
int publisher_resume(struct publisher *publisher, struct db *db, bool *published,
                     struct error *err);
/* One try.  ERROR_LOCKED if somebody else published since the run began. */
int publisher_publish(struct publisher *publisher, const struct publication *publication,
                      const struct run_record *record, struct error *err);
/* A run that failed leaves the results alone and a row that says why. */
int publisher_record_failure(struct publisher *publisher, const struct run_record *record,
                             struct error *err);
/* The cluster is gone from the source: its current rows go, history stays. */
int publisher_retire(struct publisher *publisher, struct error *err);
void publisher_end(struct publisher *publisher);

/* Call `take` for each cluster that has current rows, with the source they came from. */
int published_sources(struct db *db,
                      int (*take)(void *context, const char *cluster, const char *source),
                      void *context, struct error *err);

#endif
