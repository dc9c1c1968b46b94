/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_JOB_PLACE_H
#define FAIRMILL_REPORT_JOB_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prio_list;
struct prio_row;
struct terminology;
struct text;

/* Describes the place of a pending job in the queue, or the reason why it cannot start. */

/* One or two pending jobs that are explained. */
struct job_explanation {
    const struct prio_list *list; /* all rows of the cluster */
    /* The best row of each job, see jobs_find_shared_pool(); `other` may be NULL. */
    const struct prio_row *one, *other;
    uint64_t max_age; /* PriorityMaxAge, seconds; not 0 */
    const struct terminology *terms;
    const char *note; /* sentence that follows the places, or "" */
};

/* The jobs of a pool that can start. */
struct job_pool {
    size_t jobs;
    size_t tied; /* other jobs that share the place of the given job */
};
struct job_pool job_pool_of(const struct prio_list *list, const struct prio_row *job);

/*
 * Returns a number above 0 if the scheduler considers `one` before `other`, 0 if they are tied, or
 * a number below 0.  In a pool, Slurm compares PriorityTier first, and then the priority.
 */
int job_order(const struct prio_row *one, const struct prio_row *other);

/* Orders rows (struct prio_row) for qsort(): by pool and place; jobs that cannot start are last. */
int job_queue_order(const void *a, const void *b);

/*
 * If two jobs can start and their best rows are in different pools, replaces each row by the job's
 * best row in a pool in which both can start.  If there is no such pool, the rows remain.
 */
void jobs_find_shared_pool(const struct prio_list *list, const struct prio_row **one,
                           const struct prio_row **other);

/* Returns true if both rows can start and are in the same pool, so that they compete for nodes. */
bool jobs_compete(const struct prio_row *one, const struct prio_row *other);

/*
 * Returns a clause for the reason why the job cannot start with this row, such as `it is held`.
 * Returns an empty text if the job can start.  The caller frees the text.
 */
struct text job_reason_text(const struct prio_row *job);

/* Returns one or two words for the reason, or "" if the job can start. */
const char *job_reason_label(const struct prio_row *job);

/*
 * Adds the answer to the question why a job does not start: its place, or the reason why it cannot
 * start and the commands that change this.  `job` is one of the jobs of `explanation`.
 */
void job_place_say(struct text *text, const struct job_explanation *explanation,
                   const struct prio_row *job);

#endif
