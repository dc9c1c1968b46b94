/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_JOB_EXPLANATION_H
#define FAIRMILL_REPORT_JOB_EXPLANATION_H

#include <stdint.h>

struct answer;
struct prio_list;
struct prio_row;
struct table_layout;
struct terminology;

/* Explains the priority of a pending job, or why it ranks higher or lower than another. */
struct job_explanation {
    const struct prio_list *list;       /* all rows of the cluster */
    const struct prio_row *one, *other; /* the best row of each job; `other` may be NULL */
    uint64_t max_age;                   /* PriorityMaxAge, seconds; not 0 */
    const struct terminology *terms;
};

/*
 * Adds a row for each part of the priority, or for each name in the formula.  The page has the rows
 * and explains them in sentences.
 */
extern const struct table_layout job_explanation_layout;
void job_explanation_answer(const struct job_explanation *explanation, struct answer *answer);

#endif
