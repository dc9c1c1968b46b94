/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLICATION_H
#define FAIRMILL_RESULTS_PUBLICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/number/wide.h"
#include "db/db.h"

struct error;
struct kept_losses;

/*
 * The data of a publication, for publish.h and for the modules that write rows.  Times are in epoch
 * seconds.
 */

struct publisher {
    struct db *db;
    const struct settings *settings;
    const char *cluster;
    char lock[DB_LOCK_NAME];
    bool locked;
    int64_t seen_run; /* run that had published last when this run began; 0 if there was none */
    int64_t run_id;   /* this run's id, higher than all earlier ids in the results */
    bool has_published;
    int64_t published_as_of;
    /* Set by publisher_begin(). */
    bool begun;                 /* a transaction is open, and the fence was stepped */
    bool clears_values;         /* the rows of fairmill_value are removed, or being removed */
    struct kept_losses *losses; /* damaged rows that cannot be recomputed */
};

/* The unit of usage, except with PBS. */
#define USAGE_UNIT "TRES-seconds"

/* A row of fairmill_run.  NAN and -1 are stored as NULL. */
struct run_record {
    int64_t as_of, started_at, duration_ms;
    const char *kind, *why;
    int64_t associations, users, jobs_read;
    double unattributed_usage; /* TRES-seconds of jobs without an association */
    double truncation_bound; /* largest part of a value that missing older rows could account for */
    int64_t source_newest;   /* newest time in the job rows */
    int64_t source_lag;      /* seconds from source_newest to as_of */
    double drift_max;        /* full runs: largest error of the checkpoint, in TRES-seconds */
    int64_t drifted;         /* full runs: number of associations with such an error */
    const char *slurm_version; /* Slurm release whose rules `conformance = slurmctld` follows; NULL
                                  for PBS */
    uint64_t half_life_s;      /* in seconds; 0 means no decay */
    const char *usage_unit;    /* unit of usage; NULL means TRES-seconds */
    const char *message;
};

struct publication {
    const struct tree *tree;
    const struct values *values;
    const uint32_t *order; /* indexed by node; 0 is stored as NULL (core/fairshare/algorithm.h) */
    /* Indexed by node.  The value 0, or a missing list, is stored as NULL (core/fairshare/pbs.h).
     */
    const uint32_t *pbs_order;
    const struct names *names;
    const struct queue *queue;               /* pending jobs, or NULL */
    const struct formula_jobs *formula_jobs; /* pending jobs that a formula orders, or NULL */
    const struct tres_minutes *tres_minutes; /* indexed by node, or NULL */
    /* Usage by TRES.  `kept` is NULL if no TRES is kept; `numbers` are of all TRES ever kept. */
    const struct kept_tres *kept;
    const struct tres_numbers *numbers;
    const int128 *tres_sums; /* indexed by node and kept TRES, as in decay_table_narrow_usage() */
    const struct decay_table *decay;
    const struct privilege *privileges; /* users who may see other users' values */
    size_t privilege_count;
    const struct release *release; /* Slurm release whose rules on privileges apply; NULL for PBS */
    const struct findings *findings;
    const char *source;                         /* identity of the accounting database */
    const struct checkpoint_change *checkpoint; /* NULL if the checkpoint does not change */
    /*
     * Time at which the accounting database had this tree.  The value is -1 if the time is unknown;
     * changes are not recorded then.
     */
    int64_t seen_at;
    const struct id_index *modified; /* maps an association's id to the time of its last
                                        modification; or NULL */
    /* hash over all associations, including deleted associations */
    uint64_t modified_hash;
    /* Earlier states to record; NULL if they are recorded already or unknown. */
    const struct association_times *times;
    /* Factors of QOS; NULL if the accounting database stores no factors. */
    const struct factor_history *factors;
    const struct budget *budgets; /* GrpTRESMins limits (core/insight/budget.h) */
    size_t budget_count;
    struct days *days; /* daily usage to store; if NULL, the stored daily usage is left unchanged */
    const struct ledger_book *ledger;
    /* Compare all rows of fairmill_tree before they are left unchanged, not only a part of them. */
    bool looks_at_all;
    bool looks_through; /* verify the rows that cannot be recomputed, and remove stray hashes */
    bool replaces;      /* remove rows with times in the future */
    /*
     * Latest end time of all jobs that earlier runs have read, or 0.  Times up to this end are
     * treated as past, even if the clock is earlier.
     */
    int64_t newest_end;
};

/*
 * The functions that write the tables.  Each is in the module of the same name, must run inside the
 * transaction that publisher_publish() opened, and returns -1 on error.
 */

/*
 * Replaces a cluster's rows of fairmill_value, and its rows of fairmill_tree if they differ.
 * `fairmill verify` uses a publisher without a lock.  In that case, replaces all rows, so that all
 * are compared.
 */
int fairshare_rows_write(const struct publisher *publisher, const struct publication *publication,
                         struct error *err);

/*
 * Replaces the cluster's rows of fairmill_job_priority and fairmill_job_term by the pending jobs.
 */
int job_priority_rows_write(const struct publisher *publisher,
                            const struct publication *publication, int64_t as_of,
                            struct error *err);

/*
 * Replaces the cluster's rows of fairmill_budget.  Call it after day_rows_write(), because it reads
 * the stored days.
 */
int budget_rows_write(const struct publisher *publisher, const struct publication *publication,
                      int64_t as_of, struct error *err);

/* Replaces the cluster's rows of fairmill_privilege if they differ from the accounting database. */
int privilege_rows_write(const struct publisher *publisher, const struct publication *publication,
                         struct error *err);

/*
 * Merges a run's findings into fairmill_finding.  A finding that is stored already keeps its
 * first_seen, and its count of runs increases.  Of each kind, only the FINDINGS_PER_KIND findings
 * that were seen last remain.  The finding that the cluster is missing is removed unless the run
 * reports it again.
 */
int finding_rows_write(const struct publisher *publisher, const struct findings *findings,
                       int64_t as_of, struct error *err);

/* Removes the finding that the cluster is missing, for a run that found the cluster but failed. */
int finding_rows_end_vanished(const struct publisher *publisher, struct error *err);

/*
 * Writes the daily usage.  May be called again for the same days.
 *
 * A row has the usage that all jobs of one association had on a day.  An incremental run adds the
 * usage of newly checkpointed jobs to the stored row.  For the jobs that are not in the checkpoint,
 * it subtracts the usage that the previous run stored in fairmill_usage_open, and adds their
 * current usage.  The sums are integers, so a full run gets the same result.
 */
int day_rows_write(const struct publisher *publisher, struct days *days, struct error *err);

/*
 * Writes the numbers of jobs by waiting time, days->waits, into fairmill_wait_final and
 * fairmill_wait_open.  Days before `first` (epoch seconds) cannot be counted again.
 * day_rows_write() calls this function.
 */
int wait_rows_write(const struct publisher *publisher, struct days *days, uint64_t first,
                    struct error *err);

#endif
