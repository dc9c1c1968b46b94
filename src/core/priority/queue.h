/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_QUEUE_H
#define FAIRMILL_CORE_PRIORITY_QUEUE_H

#include "core/priority/accrual.h"
#include "core/priority/places.h"
#include "core/priority/priority.h"
#include "core/priority/reasons.h"

/* The pending jobs with all inputs of their priorities, and one row for each partition and QOS in
 * which a job may run. */

/* The lists of partitions or QOS that jobs request.  Each list is stored once. */
struct queue_lists {
    struct id_index *number_of; /* maps a list's text, or a QOS id, to the list's index */
    uint32_t *starts;           /* start of each list in `places`; the last element is the end */
    uint32_t count;
    uint32_t *places; /* indexes of partitions or QOS in the queue */
    uint32_t place_count;
};

struct queue {
    struct priority_options options;
    struct names *names; /* owned by the caller: bytes as stored in the database */
    struct arena *arena; /* owns the names and totals below */
    struct priority_partition *partitions;
    uint32_t partition_count;
    double unnamed_factor; /* factor of partitions that the settings do not name */
    bool knows_partitions; /* slurm.conf was read, so that all other partitions are missing */
    struct priority_qos *qos;
    uint32_t qos_count;
    struct queue_lists partition_lists, qos_lists;
    struct priority_job *jobs;
    size_t count;
    struct accrual *accrual;   /* accrue limits, or NULL if there are none */
    struct names *seen_counts; /* each set of counts once, as bytes; most jobs request the same */
    uint64_t *counts;          /* counts of weighted TRES, indexed by the number in `seen_counts` */
    struct names *seen_requests;
    struct job_request *requests; /* indexed by the number in `seen_requests` */
    uint32_t request_count;
    struct pool_places *places; /* set by queue_rank() */
};

/* Returns an empty queue that keeps a reference to `names`.  The caller frees it with
 * queue_destroy(), which accepts NULL.  The functions below must be called in the given order. */
struct queue *queue_create(struct names *names);
void queue_destroy(struct queue *queue);

/* First, add all partitions and QOS, each name once.  `tres_totals` has one element for each
 * weighted TRES and is copied.  It is NULL if unknown. */
void queue_add_partition(struct queue *queue, const struct priority_partition *partition);
/* The result, whose `lifts_nodes` and `lifts_time` may be set, is valid until the next call. */
struct priority_qos *queue_add_qos(struct queue *queue, uint64_t id, const char *name,
                                   uint32_t priority);
/* Sets a fixed factor for an existing QOS, independent of priorities. */
void queue_give_qos(struct queue *queue, const char *name, double factor);

/* Second, add the lists of jobs.  Returns the index of the list.  `bytes` contains names separated
 * by commas; duplicates are ignored.  An empty string is one partition without a name.  Unknown
 * partitions are added with unnamed_factor. */
uint32_t queue_partitions(struct queue *queue, const char *bytes, size_t length);
/* `bytes` contains names or ids of QOS.  If fewer than two of these QOS are known, the list
 * contains only the QOS `id`, which may be unknown, too. */
uint32_t queue_qos(struct queue *queue, const char *bytes, size_t length, uint64_t id);

/*
 * Returns the number of the requested resources with this text.  If the text is new, sets `*added`
 * to the empty request, to be filled before the next call.  Otherwise sets it to NULL.
 */
uint32_t queue_request(struct queue *queue, const char *bytes, size_t length,
                       struct job_request **added);

/* Third, add the jobs, each with its counts of weighted TRES.  The job and the counts are
 * copied. */
void queue_add_job(struct queue *queue, const struct priority_job *job, const uint64_t *counts);
/* Sorts the jobs by key, the order in which databases store rows fastest. */
void queue_sort(struct queue *queue);

/*
 * Last, determines the places of all jobs that can start; a repeated call replaces the places.  1
 * is the next job of its pool.  PriorityTier is compared first, then the priority; ties share a
 * place (1, 2, 2, 4).  A job that can start in several partitions of a pool has the place of the
 * best of them, and counts once.
 */
void queue_rank(struct queue *queue);

/* A job in one of its partitions and with one of its QOS. */
struct queue_row {
    const struct priority_job *job;
    const uint64_t *counts;
    const struct priority_partition *partition;
    const struct priority_qos *qos;
    uint64_t tres; /* rows with the same value have the same counts and partition */
    struct priority priority;
    const char *reason; /* why the job cannot start there, a PRIORITY_JOB_*, or "" */
    uint32_t place;     /* in the partition's pool; 0 if it cannot start, or without queue_rank() */
    /* The job's best row: first the rows in which it can start, then the highest PriorityTier, then
     * the highest priority; the first of tied rows. */
    bool best;
};
/* Returns the facts of a job of the queue. */
struct job_facts queue_job_facts(const struct queue *queue, const struct priority_job *job);
/* Appends the reason of a row with its numbers. */
void queue_row_add_detail(const struct queue *queue, const struct queue_row *row,
                          struct text *text);
/* Calls `visit` for every row of every job; the rows of one job are consecutive.  Stops and returns
 * -1 if `visit` fails. */
int queue_each(const struct queue *queue,
               int (*visit)(void *context, const struct queue_row *row, struct error *err),
               void *context, struct error *err);

#endif
