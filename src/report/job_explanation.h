/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_JOB_EXPLANATION_H
#define FAIRMILL_REPORT_JOB_EXPLANATION_H

#include <stdint.h>

struct answer;
struct prio_list;
struct prio_row;
struct table_layout;
struct terminology;

/* Why a job that waits has its priority, or comes before another one. */
struct job_explanation {
    const struct prio_list *list;       /* all rows of the cluster */
    const struct prio_row *one, *other; /* the best row of each; `other` NULL: nobody asked */
    uint64_t max_age;                   /* seconds */
    const struct terminology *terms;
};

/* Answer with a row for each part of the priority, or for each name of the formula.  The page has
 * the same, and in words what it amounts to. */
extern const struct table_layout job_explanation_layout;
void job_explanation_answer(const struct job_explanation *explanation, struct answer *answer);

#endif
