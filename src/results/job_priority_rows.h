/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_JOB_PRIORITY_ROWS_H
#define FAIRMILL_RESULTS_JOB_PRIORITY_ROWS_H

#include <stdint.h>

struct error;
struct publisher;
struct queue;

/* The rows of fairmill_job_priority, inside the transaction that publisher_publish() has open. */

/* Replace a cluster's rows by those of its queue; NULL is an empty one. */
int job_priority_rows_write(const struct publisher *publisher, const struct queue *queue,
                            int64_t as_of, struct error *err);
/* A deleted cluster has none. */
int job_priority_rows_clear(const struct publisher *publisher, struct error *err);

#endif
