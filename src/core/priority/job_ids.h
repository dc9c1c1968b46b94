/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_JOB_IDS_H
#define FAIRMILL_CORE_PRIORITY_JOB_IDS_H

#include <stdbool.h>
#include <stdint.h>

struct priority_job;
struct text;

/* The ids of pending jobs as squeue prints them. */

/*
 * Appends the id: `5000_12` for a task of an array, `5000_[1-20]` for the record of its remaining
 * tasks, `4000+1` for a component of a heterogeneous job, or else the number.  `tasks` contains the
 * remaining tasks as in slurmdbd's array_task_str, a hexadecimal mask or a list.  If it is empty,
 * invalid or long, the record's id is the number.
 */
void job_id_add(struct text *text, const struct priority_job *job, const char *tasks);

/*
 * Returns true if the id of an array's record may include the task `asked`, such as `5000_12`: the
 * array is `array`, and the record's id lists the task or no tasks.
 */
bool job_id_may_have_task(const char *id, int64_t array, const char *asked);

#endif
