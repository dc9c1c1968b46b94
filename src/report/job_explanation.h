/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_JOB_EXPLANATION_H
#define FAIRMILL_REPORT_JOB_EXPLANATION_H

#include "report/job_place.h"

struct answer;
struct table_layout;

/* Explains the place and the priority of a pending job, or why it ranks higher or lower than
 * another. */

/*
 * Adds a row for each part of the priority, or for each name in the formula.  The page has the rows
 * and explains them in sentences.
 */
extern const struct table_layout job_explanation_layout;
void job_explanation_answer(const struct job_explanation *explanation, struct answer *answer);

#endif
