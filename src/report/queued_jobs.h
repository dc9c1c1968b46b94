/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_QUEUED_JOBS_H
#define FAIRMILL_REPORT_QUEUED_JOBS_H

#include <stdbool.h>

struct prio_list;
struct priority_job;
struct queue;

/* Add the rows of a queue that was computed to a list, of the jobs that are `wanted`; NULL: of all.
 */
void prio_list_add_queue(struct prio_list *list, const struct queue *queue,
                         bool (*wanted)(const void *context, const struct priority_job *job),
                         const void *context);

#endif
