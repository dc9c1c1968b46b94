/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLICATION_H
#define FAIRMILL_RESULTS_PUBLICATION_H

#include <stdbool.h>
#include <stdint.h>

/* Who publishes a cluster and what: publish.h does it, with the modules that write rows. */

struct publisher {
    struct db *db;
    const struct settings *settings;
    const char *cluster;
    char lock[64];
    bool locked;
    int64_t seen_run; /* the run that had published last when this one began; 0: none had */
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
    int64_t drifted;           /* and for how many associations it was */
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
    int64_t seen_at;   /* when the source had this tree; -1: unknown, so changes are not recorded */
    struct days *days; /* NULL: the usage of days stays as it is */
};

#endif
