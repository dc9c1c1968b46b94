/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_FORMULA_JOBS_H
#define FAIRMILL_CORE_PRIORITY_FORMULA_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/formula/formula.h"
#include "core/priority/job_facts.h"

struct arena;
struct error;

/* The pending jobs of an OpenPBS cluster.  The cluster's job_sort_formula determines the order of
 * the jobs: the job with the highest value runs first.  As in OpenPBS, a value that cannot be
 * computed is 0. */

/* Reasons for a missing priority of a job or a missing value of its formula. */
#define FORMULA_JOB_HELD "held"
#define FORMULA_JOB_NOT_YET "not_yet" /* waits for a given time, or is in transit */
#define FORMULA_JOB_NO_SHARES "no_shares"
#define FORMULA_JOB_BELOW_THRESHOLD "below_threshold"
#define FORMULA_JOB_NO_FORMULA "no_formula"
#define FORMULA_JOB_ERROR "formula_error" /* followed by ": " and the reason */

struct formula_job {
    uint64_t key;
    const char *job_id, *user, *queue; /* bytes as stored in the database */
    uint32_t association;              /* of the entity; 0 if unknown */
    const char *stopped;               /* one of the reasons above, or NULL if the job may run */
    struct job_facts facts;
    /* Input of formula_jobs_rank(), in addition to the values of names. */
    uint32_t account; /* index into the accounting's names, or INDEX_NONE */
    double factor;    /* fairshare_factor, or NAN */
    uint32_t order;   /* place by fairshare: 1 is next; UINT32_MAX if none */
    bool no_shares;   /* the job never runs because its entity has no shares */
    /* Results of formula_jobs_rank(). */
    double value;    /* NAN if the formula is missing or cannot be evaluated */
    const char *why; /* reason, or NULL */
    /* 1 + the number of jobs that run later.  0 if the job does not run or there is no formula. */
    uint64_t priority;
    uint64_t place; /* 1 + the number of jobs that run earlier; 0 if `priority` is 0 */
};

struct formula_jobs {
    struct formula *formula; /* NULL if missing or invalid */
    /* The reason why the formula or its threshold is invalid, or NULL. */
    const char *flaw;
    double threshold;     /* jobs with a value up to it do not run; -INFINITY if unset */
    bool enforces_shares; /* jobs without shares do not run */
    struct arena *arena;  /* owns the strings */
    struct formula_job *jobs;
    size_t count;
    struct formula_value *values; /* indexed by job, then by name in the formula */
};

/* Creates an empty list of jobs.  An empty string means no formula or no threshold.  An invalid
 * formula or threshold sets `flaw`.  The caller frees the result with formula_jobs_destroy(), which
 * accepts NULL. */
struct formula_jobs *formula_jobs_create(const char *formula, const char *threshold);
void formula_jobs_destroy(struct formula_jobs *jobs);

size_t formula_jobs_name_count(const struct formula_jobs *jobs);
/* Adds a job and copies its strings.  Returns its values, one for each name, which are 0 until they
 * are set.  The pointer is valid until the next call. */
struct formula_value *formula_jobs_add(struct formula_jobs *jobs, const struct formula_job *job);
struct formula_value *formula_jobs_values(const struct formula_jobs *jobs, size_t job);

/* Returns the number at the beginning of a job id, or 0 if it does not begin with a number. */
int64_t formula_job_number(const char *job_id);

/* Evaluates the formula for each job and ranks the jobs.  As in OpenPBS, values are compared in
 * single precision and fairshare decides between tied jobs. */
void formula_jobs_rank(struct formula_jobs *jobs);

#endif
