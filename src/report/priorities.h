/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PRIORITIES_H
#define FAIRMILL_REPORT_PRIORITIES_H

#include <stdbool.h>

#include "core/priority/job_facts.h"
#include "report/column.h"
#include "util/name_list.h"

struct priority_job;
struct queue;
struct table;
struct permissions;

/* The pending jobs of a cluster, and their columns in output for programs. */

/* The parts of a priority, in addition to TRES. */
enum prio_part {
    PRIO_AGE,
    PRIO_ASSOC,
    PRIO_FAIRSHARE,
    PRIO_JOB_SIZE,
    PRIO_PARTITION,
    PRIO_QOS,
    PRIO_PARTS,
};
extern const char *const prio_part_names[PRIO_PARTS];

/* A name in the formula and its value for a job. */
struct prio_term {
    const char *name;
    double value;
};

#define PRIO_UNKNOWN (-1)

/* A pending job in one partition and with one QOS. */
struct prio_row {
    uint64_t key; /* job_db_inx */
    int64_t id_job;
    const char *user, *account, *partition, *qos;
    double factor[PRIO_PARTS], weighted[PRIO_PARTS];
    const char *tres_factors, *tres_weighted;
    int64_t site, nice; /* 0 if unknown */
    bool site_known, nice_known;
    int64_t priority;   /* 0 if none */
    double norm;        /* the priority between 0 and 1, as with sprio -n; NAN if none */
    const char *job_id; /* id in the scheduler's form; if NULL, prio_list_add() uses id_job */
    bool of_formula;    /* a formula determines the priority (OpenPBS) */
    bool has_priority;
    double value;      /* value of the formula; NAN if none */
    const char *why;   /* reason why it cannot run or lacks a value; NULL: none */
    const char *terms; /* values of the formula's names: `ncpus=4 fairshare_factor=0.5` */
    const struct prio_term *first_term; /* these names and values as a list */
    size_t term_count;
    int64_t tier;       /* PriorityTier of the partition; PRIO_UNKNOWN without slurm.conf */
    const char *pool;   /* first partition, in bytewise order, of those that share nodes; or "" */
    int64_t place;      /* 1 is the next job of the pool; ties share a place; 0: cannot start */
    const char *reason; /* why the job cannot start: a PRIORITY_REASON of priority.h, or "" */
    const char *detail; /* the reason with its numbers, as part of a sentence; or "" */
    int64_t array_job, het_job;     /* id of the array, or of the heterogeneous job; 0: none */
    int64_t array_task, het_offset; /* number of the task or component; PRIO_UNKNOWN: none */
    struct job_facts facts;
    double what_if;  /* value of the formula of `prio --formula`; NAN if none */
    bool best;       /* this is the best of the job's rows */
    bool is_weights; /* not a job: `factor` and `weighted` are the weights */
};

/* The weights that the run of a cluster used. */
struct prio_weights {
    uint64_t of[PRIO_PARTS];
    const char *tres; /* as in slurm.conf; "" if not set */
};

struct prio_list {
    char *cluster;
    int64_t as_of;
    struct prio_weights weights;
    bool of_formula;     /* a formula determines the priorities (OpenPBS) */
    bool names_qos;      /* sprio -l of the cluster's release prints QOS and account names */
    struct arena *arena; /* owns all texts */
    struct prio_row *rows;
    size_t count;
};
struct prio_list *prio_list_create(const char *cluster, int64_t as_of);
void prio_list_destroy(struct prio_list *list);
/* Returns a copy of the bytes as UTF-8.  The list owns the copy. */
const char *prio_list_text(struct prio_list *list, const char *bytes, size_t length);
/* Appends a copy of `row`.  Its texts must come from prio_list_text(). */
void prio_list_add(struct prio_list *list, const struct prio_row *row);

/*
 * Returns true if `id` is the row's job_id or the number id_job.  Also returns true for a task such
 * as `5000_12` if the row is the record of the array's remaining tasks and may include the task.
 */
bool prio_is_job(const char *id, const struct prio_row *row);

/* The rows to show.  An empty list selects all. */
struct prio_filter {
    struct name_list users, partitions;
    /* must include the accounts below them; NULL: all accounts */
    const struct name_list *accounts;
    struct name_list jobs;                 /* ids of jobs */
    const struct permissions *permissions; /* permissions of the requesting user */
};
/* Removes the rows that do not match or may not be shown. */
void prio_list_filter(struct prio_list *list, const struct prio_filter *filter);

/*
 * Fills `columns` with the columns for programs, which can also be chosen by name.  They have
 * weighted values or, if `normalized`, factors.  The two kinds of columns have the same headings
 * but different names.
 */
#define PRIO_COLUMNS 45
void prio_columns(struct column columns[PRIO_COLUMNS], bool normalized);
/* Shows the columns of jobs with a formula (job_id, formula_value, why, terms) in all formats for
 * programs. */
void prio_columns_of_formula(struct column columns[PRIO_COLUMNS]);
/*
 * Returns a sentence for a published reason why a job cannot run.  Returns an unknown reason
 * unchanged.
 */
const char *prio_why(const char *why);
/* Returns the sum of the weighted TRES of a row, computed from the printed values. */
double prio_tres_sum(const struct prio_row *row);
/*
 * Determines the places of all rows that have a place, after rows were added to a published list.
 * Call it before prio_list_filter().
 */
void prio_list_rank(struct prio_list *list);
/* Adds a cluster's jobs to a table or, if `only_weights`, its weights. */
void prio_list_print(const struct prio_list *list, struct table *table, bool only_weights);

/*
 * Adds the rows of a computed queue to a list.  Skips jobs for which `wanted` returns false; it may
 * be NULL.
 */
void prio_list_add_queue(struct prio_list *list, const struct queue *queue,
                         bool (*wanted)(const void *context, const struct priority_job *job),
                         const void *context);

#endif
