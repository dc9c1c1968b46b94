/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_QUEUE_H
#define FAIRMILL_CORE_PRIORITY_QUEUE_H

#include "core/priority/accrual.h"
#include "core/priority/priority.h"

/* The jobs that wait, with all that their priorities hang on, and a row for each partition and QOS
 * that a job may take. */

/* Lists of partitions or of QOS as jobs name them, each kept once. */
struct queue_lists {
    struct id_index *number_of; /* the number of the text in the queue's names -> of the list */
    uint32_t *starts;           /* in places; one more than there are lists */
    uint32_t count;
    uint32_t *places; /* in the queue's partitions or QOS */
    uint32_t place_count;
};

struct queue {
    struct priority_options options;
    struct names *names; /* borrowed: bytes as the database has them */
    struct arena *arena; /* of names and totals below */
    struct priority_partition *partitions;
    uint32_t partition_count;
    double unnamed_factor; /* of partitions that the settings do not name */
    struct priority_qos *qos;
    uint32_t qos_count;
    struct queue_lists partition_lists, qos_lists;
    struct priority_job *jobs;
    size_t count;
    struct accrual *accrual;   /* who may age; NULL: nothing bounds it */
    struct names *seen_counts; /* as bytes: most jobs ask for what others ask for */
    uint64_t *counts;          /* of weighted TRES, by their numbers */
};

struct queue *queue_create(struct names *names);
void queue_destroy(struct queue *queue);

/* First all partitions and QOS, each name once; `tres_totals` (NULL: not known) has as many as
 * there are weighted TRES, and is copied. */
void queue_add_partition(struct queue *queue, const struct priority_partition *partition);
void queue_add_qos(struct queue *queue, uint64_t id, const char *name, uint32_t priority);
/* Give one that is there a factor that does not hang on priorities. */
void queue_give_qos(struct queue *queue, const char *name, double factor);

/* Then the lists that jobs have: names separated by commas, each counted once; "" is one partition
 * without a name.  A partition that is not there gets what unnamed ones have. */
uint32_t queue_partitions(struct queue *queue, const char *bytes, size_t length);
/* Names or ids; where there are less than two that are known it is the QOS of the id, which need
 * not be known either. */
uint32_t queue_qos(struct queue *queue, const char *bytes, size_t length, uint64_t id);

/* Then the jobs, with the counts of weighted TRES that each asks for. */
void queue_add_job(struct queue *queue, const struct priority_job *job, const uint64_t *counts);
/* Put them in the order of their keys, in which databases store their rows fastest. */
void queue_sort(struct queue *queue);

/* A job in one of its partitions and with one of its QOS. */
struct queue_row {
    const struct priority_job *job;
    const uint64_t *counts;
    const struct priority_partition *partition;
    const struct priority_qos *qos;
    uint64_t tres; /* rows in which it is the same have the same counts and the same partition */
    struct priority priority;
    bool best; /* the highest of the job's, of equal ones the first */
};
/* Call `visit` for every row of every job, those of a job one after another.  Where it fails, so
 * does this. */
int queue_each(const struct queue *queue,
               int (*visit)(void *context, const struct queue_row *row, struct error *err),
               void *context, struct error *err);

#endif
