/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLICATION_H
#define FAIRMILL_RESULTS_PUBLICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"

struct error;

/* Who publishes a cluster and what: publish.h does it, with the modules that write rows. */

struct publisher {
    struct db *db;
    const struct settings *settings;
    const char *cluster;
    char lock[DB_LOCK_NAME];
    bool locked;
    int64_t seen_run; /* the run that had published last when this one began; 0: none had */
    int64_t run_id;   /* ours: above every earlier one in this database */
    bool has_published;
    int64_t published_as_of;
};

/* What usage is counted in, but on PBS clusters. */
#define USAGE_UNIT "TRES-seconds"

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
    const char *slurm_version; /* whose rules slurmctld's conformance has; NULL: not of Slurm */
    uint64_t half_life_s;      /* 0: no decay */
    const char *usage_unit;    /* what usage is counted in; NULL: TRES-seconds */
    const char *message;
};

struct publication {
    const struct tree *tree;
    const struct values *values;
    const uint32_t *order;     /* by node; 0 is NULL (core/fairshare/algorithm.h) */
    const uint32_t *pbs_order; /* by node; 0, or no list: NULL (core/fairshare/pbs.h) */
    const struct names *names;
    const struct queue *queue;               /* jobs that wait; NULL: there are none */
    const struct formula_jobs *formula_jobs; /* likewise, where a formula makes their order */
    const struct tres_minutes *tres_minutes; /* by node; NULL: there are none */
    const struct privilege *privileges;      /* who may see what others have */
    size_t privilege_count;
    const struct release *release; /* whose rules on privileges hold; NULL: not Slurm's */
    const struct findings *findings;
    const char *source;                         /* the source's identity */
    const struct checkpoint_change *checkpoint; /* NULL: the seal stays as it is */
    int64_t seen_at; /* when the source had this tree; -1: unknown, so changes are not recorded */
    const struct id_index *modified;       /* by association: when the source touched it; or NULL */
    uint64_t modified_hash;                /* of all associations, deleted ones, too */
    const struct association_times *times; /* to be recorded; NULL: they are, or are unknown */
    const struct factor_history *factors;  /* of QOS; NULL: the source has none */
    struct days *days;                     /* NULL: the usage of days stays as it is */
    const struct ledger_book *ledger;
    bool looks_at_all;  /* of the tree that is stored, before it is left as it is */
    bool looks_through; /* look whether what cannot be made anew is as it was stored, and for strays
                         */
    bool replaces;      /* what is of an instant that has not come yet goes */
    int64_t newest_end; /* of a job in the source, by earlier runs: that has come */
};

/* The rows of each table, written inside the transaction that publisher_publish() has open by the
 * module of the same name. */

/* Replace a cluster's rows of fairmill_value, and those of fairmill_tree where they are not as they
 * should be; or all, where the publisher has no lock and compares. */
int fairshare_rows_write(const struct publisher *publisher, const struct publication *publication,
                         struct error *err);

/* Replace its rows of fairmill_job_priority and fairmill_job_term by those of its queue. */
int job_priority_rows_write(const struct publisher *publisher,
                            const struct publication *publication, int64_t as_of,
                            struct error *err);

/* Make its rows of fairmill_privilege those of the source. */
int privilege_rows_write(const struct publisher *publisher, const struct publication *publication,
                         struct error *err);

/* Merge a run's findings into fairmill_finding.  A finding that is there keeps its first_seen and
 * counts the runs that saw it; at most FINDINGS_PER_KIND of a kind stay, those that were seen last.
 * That the cluster has vanished is no finding any more once a run does not find it. */
int finding_rows_write(const struct publisher *publisher, const struct findings *findings,
                       int64_t as_of, struct error *err);
/* Remove the finding that the cluster has vanished: the run found it, though it failed. */
int finding_rows_end_vanished(const struct publisher *publisher, struct error *err);

/* Write the usage of days; may be called again.  A day's row is the sum over all jobs, of which a
 * run that goes on from the seal reads few.  So it adds to the stored rows what was sealed since,
 * subtracts what the run before had counted of jobs that were not sealed (fairmill_usage_open), and
 * adds what these are now.  These are integers, so that a full run finds the same. */
int day_rows_write(const struct publisher *publisher, struct days *days, struct error *err);

#endif
