/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_JOB_REVERSALS_H
#define FAIRMILL_REPORT_JOB_REVERSALS_H

struct job_explanation;
struct json_t;
struct text;

/* The changes that would reverse the order of two pending jobs. */

/*
 * Returns the changes as a JSON object that the caller owns.  Returns null if a formula orders the
 * jobs, if they do not compete, or if their tiers differ, so that no priority changes the order.
 */
struct json_t *job_reversals_json(const struct job_explanation *explanation);

/* Adds the changes in sentences.  Adds nothing if there is only one job, or if the two jobs do not
 * compete. */
void job_reversals_say(struct text *text, const struct job_explanation *explanation);

#endif
