/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_JOB_PRIORITY_ROWS_H
#define FAIRMILL_RESULTS_JOB_PRIORITY_ROWS_H

#include <stdint.h>

struct error;
struct publisher;
struct queue;

/* Replace a cluster's rows of fairmill_job_priority by those of its queue (NULL: there are none),
 * inside the transaction that publisher_publish() has open. */
int job_priority_rows_write(const struct publisher *publisher, const struct queue *queue,
                            int64_t as_of, struct error *err);

#endif
