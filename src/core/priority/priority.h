/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_PRIORITY_H
#define FAIRMILL_CORE_PRIORITY_PRIORITY_H

#include "core/fairshare/fairshare.h"

/* The priority of a job in one partition and with one QOS: a weighted sum of factors (SPEC 5).
 *
 * `documents` follows the text of seed 002, `slurmctld` what sprio of a running Slurm prints
 * (facts of Slurm 1.9).  They differ in the size of a job and in whether a job beyond the
 * cluster's limits ages; everything else is the same.  Doubles are added and multiplied in the
 * order in which slurmctld does it, so that a sum is cut to the same integer. */

#define PRIORITY_MAXIMUM UINT32_MAX
#define PRIORITY_NONE UINT32_MAX     /* the priority of an association that has none */
#define PRIORITY_NO_LIMIT UINT64_MAX /* of time or of nodes */

/* A time limit as the accounting database has it, in minutes; 0 says as little as NO_VAL. */
#define TIME_LIMIT_NO_VALUE 0xfffffffeu
#define TIME_LIMIT_INFINITE 0xffffffffu

/* A TRES with a weight. */
struct priority_tres {
    const char *name; /* as sprio prints it: `cpu`, `gres/gpu:a100` */
    uint64_t id;
    double weight;
    uint64_t total; /* what the cluster has; 0: not known */
};

struct priority_weights {
    double age, association, fairshare, job_size, partition, qos;
};

struct priority_options {
    enum conformance conformance;
    uint64_t now;     /* epoch seconds, as all instants below */
    uint64_t max_age; /* seconds */
    struct priority_weights weights;
    const struct priority_tres *tres; /* by ascending id, the order of sprio */
    size_t tres_count;
    bool favor_small;
    /* PriorityFlags of slurm.conf. */
    bool relative_to_time, accrue_always;
    bool no_normal_association, no_normal_partition, no_normal_qos, no_normal_tres;
    bool leaves_spec_cpus;        /* as the release does (core/fairshare/release.h) */
    uint64_t nodes, cpus;         /* what the cluster has; 0: not known */
    double highest_partition;     /* the highest factor of a partition, at least 1 */
    uint32_t highest_qos;         /* the highest priority of a QOS that is there; 0: none */
    uint32_t highest_association; /* likewise */
};

struct priority_partition {
    const char *name;
    double factor;               /* PriorityJobFactor */
    uint64_t max_minutes;        /* MaxTime; PRIORITY_NO_LIMIT also where it is not known */
    uint64_t max_nodes;          /* how many it has; PRIORITY_NO_LIMIT where it is not known */
    const uint64_t *tres_totals; /* of each weighted TRES; NULL: those of the cluster */
};

struct priority_qos {
    const char *name;
    uint64_t id;
    uint32_t priority; /* 0: none, as that of a QOS which was deleted */
    double factor;     /* as it is; NAN: the priority / the highest */
};

/* Why a job that is lost has no priority. */
#define PRIORITY_JOB_LOST "lost"

/* A job that waits, or, with CALCULATE_RUNNING, runs. */
struct priority_job {
    uint64_t key; /* job_db_inx */
    uint64_t submitted;
    uint64_t ages_since; /* 0 or to come: it is held, depends on another, or has a begin time */
    uint32_t id_job;
    uint32_t association;     /* id_assoc */
    uint32_t account, user;   /* in the queue's names */
    uint32_t partitions, qos; /* in the queue's lists */
    uint32_t time_limit;
    uint32_t nodes; /* asked for; 0 is 1 */
    uint32_t cpus;
    uint32_t association_priority; /* its own, or the nearest one above; PRIORITY_NONE */
    bool held, started;
    bool lost;        /* it has been pending for so long that slurmctld does not know it any more */
    double fairshare; /* of its association; NAN is 0 */
    uint32_t counts;  /* of weighted TRES: a number of the queue's */
};

/* Each factor from 0 to 1 (with a NO_NORMAL flag the bare number), or times its weight. */
struct priority_parts {
    double age, association, fairshare, job_size, partition, qos;
};

struct priority {
    struct priority_parts factor, weighted;
    double tres;    /* weighted, of all TRES */
    uint32_t value; /* 0 for a held job, else 1 to PRIORITY_MAXIMUM */
    double norm;    /* the same before it is cut to an integer / PRIORITY_MAXIMUM */
};

/* `counts` are of the job's weighted TRES. */
void priority_compute(const struct priority_options *options, const struct priority_job *job,
                      const uint64_t *counts, const struct priority_partition *partition,
                      const struct priority_qos *qos, struct priority *priority);

/* Add the weighted parts up: value and norm. */
void priority_add_up(struct priority *priority, bool held);

/* Add the factors of TRES as sprio prints them, `cpu=0.12,gres/gpu=0.50`, or their weighted
 * values, `cpu=12,gres/gpu=500`; what is 0 is left out. */
void priority_add_tres(struct text *text, const struct priority_options *options,
                       const uint64_t *counts, const struct priority_partition *partition,
                       bool weighted);

#endif
