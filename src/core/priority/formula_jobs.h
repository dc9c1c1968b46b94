/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_FORMULA_JOBS_H
#define FAIRMILL_CORE_PRIORITY_FORMULA_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/formula/formula.h"

struct arena;
struct error;

/* The jobs that wait on a cluster of OpenPBS, whose order its job_sort_formula makes: the job of
 * the highest value is the first.  A value that cannot be computed is 0, as in OpenPBS. */

/* What says why a job has no priority, or its formula no value. */
#define FORMULA_JOB_HELD "held"
#define FORMULA_JOB_NOT_YET "not_yet" /* it waits for an instant to come, or is on its way */
#define FORMULA_JOB_NO_SHARES "no_shares"
#define FORMULA_JOB_BELOW_THRESHOLD "below_threshold"
#define FORMULA_JOB_NO_FORMULA "no_formula"
#define FORMULA_JOB_ERROR "formula_error" /* then a colon, a blank, and the reason */

struct formula_job {
    uint64_t key;
    const char *job_id, *user, *queue; /* bytes as the database has them */
    uint32_t association;              /* of the entity; 0: nobody knows it */
    const char *stopped;               /* one of these words; NULL: it may run */
    /* What formula_jobs_rank() wants besides the values of names. */
    uint32_t account; /* a number in the accounting's names; INDEX_NONE: none */
    double factor;    /* fairshare_factor; NAN */
    uint32_t order;   /* place by fairshare: 1 is next; UINT32_MAX: none */
    bool no_shares;   /* so that it never runs */
    /* What it finds. */
    double value;      /* NAN: there is no formula, or it cannot be evaluated */
    const char *why;   /* NULL: there is nothing to say */
    uint64_t priority; /* one more than the number of jobs that run later; 0: it does not run, or
                        * there is no formula */
};

struct formula_jobs {
    struct formula *formula; /* NULL: there is none, or it cannot be evaluated */
    const char *flaw;        /* why it, or its threshold, cannot be evaluated; NULL */
    double threshold;        /* who is not above it does not run; -INFINITY */
    bool enforces_shares;    /* who has none does not run */
    struct arena *arena;     /* of texts */
    struct formula_job *jobs;
    size_t count;
    struct formula_value *values; /* by job, then by name of the formula */
};

/* "": there is no formula, or no threshold. */
struct formula_jobs *formula_jobs_create(const char *formula, const char *threshold);
void formula_jobs_destroy(struct formula_jobs *jobs);

size_t formula_jobs_name_count(const struct formula_jobs *jobs);
/* Add a job, whose texts are copied.  Its values, one for each name, are 0 until they are set. */
struct formula_value *formula_jobs_add(struct formula_jobs *jobs, const struct formula_job *job);
struct formula_value *formula_jobs_values(const struct formula_jobs *jobs, size_t job);

/* The number with which the id of a job begins; 0: with none. */
int64_t formula_job_number(const char *job_id);

/* Evaluates the formula for each job, and ranks them.  As in OpenPBS values tie in single
 * precision, and fairshare decides between jobs that tie. */
void formula_jobs_rank(struct formula_jobs *jobs);

#endif
