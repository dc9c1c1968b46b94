/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_PRIORITY_H
#define FAIRMILL_CORE_PRIORITY_PRIORITY_H

#include "core/fairshare/fairshare.h"

/*
 * The priority of a job in one partition and with one QOS: a weighted sum of factors.
 *
 * CONFORMANCE_DOCUMENTS follows "Multifactor Priority Plugin" of Slurm 2.0, and
 * CONFORMANCE_SLURMCTLD the output of sprio.  The two modes differ in two factors: job size, and
 * the age of jobs beyond the cluster's limits.  Doubles are added and multiplied in the same order
 * as in slurmctld, so that a sum is truncated to the same integer.
 */

#define PRIORITY_MAXIMUM UINT32_MAX
#define PRIORITY_NONE UINT32_MAX     /* an association has no priority */
#define PRIORITY_NO_LIMIT UINT64_MAX /* for time or nodes */
#define PRIORITY_NO_TIER (-1)
#define PRIORITY_NO_NUMBER UINT32_MAX /* a job is not a task, or not a component */

/* A time limit in minutes as stored in the accounting database.  0 means the same as NO_VAL. */
#define TIME_LIMIT_NO_VALUE 0xfffffffeu
#define TIME_LIMIT_INFINITE 0xffffffffu

/* A TRES with a weight. */
struct priority_tres {
    const char *name; /* as in sprio's output: `cpu`, `gres/gpu:a100` */
    uint64_t id;
    double weight;
    uint64_t total; /* in the cluster; 0 if unknown */
};

struct priority_weights {
    double age, association, fairshare, job_size, partition, qos;
};

struct priority_options {
    enum conformance conformance;
    uint64_t now;     /* epoch seconds, like all times below */
    uint64_t max_age; /* seconds */
    struct priority_weights weights;
    const struct priority_tres *tres; /* in ascending order of id, as in sprio's output */
    size_t tres_count;
    bool favor_small;
    /* PriorityFlags in slurm.conf. */
    bool relative_to_time, accrue_always;
    bool no_normal_association, no_normal_partition, no_normal_qos, no_normal_tres;
    bool leaves_spec_cpus;        /* excludes specialized CPUs (RULE_SPEC_CPUS_LEFT_OUT) */
    uint64_t nodes, cpus;         /* in the cluster; 0 if unknown */
    double highest_partition;     /* highest factor of a partition, at least 1 */
    uint32_t highest_qos;         /* highest priority of an existing QOS; 0 if none */
    uint32_t highest_association; /* highest priority of an association; 0 if none */
};

/* A number of generic resources, such as gres/gpu. */
struct gres_count {
    uint64_t id;      /* of the TRES */
    const char *name; /* "gres/gpu:a100"; may be NULL in requests */
    uint64_t count;
};

/* What a partition has and allows according to slurm.conf, in addition to its time limit. */
struct partition_limits {
    bool is_missing;      /* slurm.conf is known, and lacks the partition */
    const char *closed;   /* its State if no job can start there, DOWN or INACTIVE, else NULL */
    uint64_t max_nodes;   /* MaxNodes; UINT64_MAX means no limit */
    uint64_t nodes, cpus; /* 0 if unknown, like the memory */
    uint64_t memory;      /* of all nodes */
    uint64_t node_memory; /* of the largest node */
    const struct gres_count *gres;
    size_t gres_count;
};

struct priority_partition {
    const char *name;
    double factor;        /* PriorityJobFactor */
    uint64_t max_minutes; /* MaxTime; PRIORITY_NO_LIMIT if there is no limit or it is unknown */
    uint64_t max_nodes;   /* nodes of the partition; PRIORITY_NO_LIMIT if unknown */
    const uint64_t *tres_totals; /* indexed by weighted TRES; NULL for the cluster's totals */
    int32_t tier;                /* PriorityTier, or PRIORITY_NO_TIER */
    const char *pool;            /* name of the group of partitions that share nodes; or "" */
    uint32_t pool_number;        /* the same for all partitions of a pool */
    struct partition_limits limits;
};

struct priority_qos {
    const char *name;
    uint64_t id;
    uint32_t priority; /* 0 if none, also for a deleted QOS */
    double factor;     /* used unchanged; NAN means `priority` divided by the highest priority */
    bool lifts_nodes;  /* MaxNodes of partitions does not apply (PartitionMaxNodes) */
    bool lifts_time;   /* MaxTime of partitions does not apply (PartitionTimeLimit) */
};

/* The reasons why a job cannot start, as in the column `reason` of fairmill_job_priority.  A job
 * without a reason has "". */
#define PRIORITY_JOB_HELD "held"
#define PRIORITY_JOB_BEGIN "begin"           /* its begin time is in the future */
#define PRIORITY_JOB_DEPENDENCY "dependency" /* waits for other jobs */
#define PRIORITY_JOB_TOO_LARGE "too_large"   /* asks for more than the partition has or allows */
#define PRIORITY_JOB_PARTITION_UNKNOWN "partition_unknown" /* slurm.conf lacks the partition */
#define PRIORITY_JOB_PARTITION_DOWN "partition_down"
#define PRIORITY_JOB_ARRAY_LIMIT "array_limit" /* as many tasks run as the array allows */
#define PRIORITY_JOB_LOST "lost"               /* pending for longer than any limit allows */

/* A pending job.  With PriorityFlags=CALCULATE_RUNNING, also a running job. */
struct priority_job {
    uint64_t key; /* job_db_inx */
    uint64_t submitted;
    /* The time from which the job ages.  It is 0 or in the future if the job is held, depends on
     * another job or has a begin time. */
    uint64_t ages_since;
    uint32_t id_job;
    uint32_t association;     /* id_assoc */
    uint32_t account, user;   /* indexes into queue->names */
    uint32_t partitions, qos; /* indexes of the queue's lists */
    uint32_t time_limit;
    uint32_t nodes; /* requested; 0 means 1 */
    uint32_t cpus;
    /* Priority of the association, or of its nearest ancestor with a priority, or PRIORITY_NONE. */
    uint32_t association_priority;
    bool held, started;
    const char *blocked;  /* dependency, begin or array_limit, or "" */
    uint64_t eligible;    /* as in the database; 0 if unknown */
    uint64_t waits_since; /* as `ages_since`, but accrue limits never delay it */
    uint32_t request;     /* index of the requested resources in the queue */
    /* Ids of the array and of the heterogeneous job; 0 if there is none. */
    uint32_t id_array, id_het;
    uint32_t array_task, het_offset; /* numbers of the task and the component */
    uint32_t array_limit;            /* number of tasks that may run at a time */
    uint32_t array_tasks;            /* the array's pending tasks, an index into queue->names */
    /* The job has been pending for so long that slurmctld no longer knows it. */
    bool lost;
    double fairshare; /* factor of its association; NAN is treated as 0 */
    uint32_t counts;  /* index of its TRES counts in the queue */
};

/* Factors from 0 to 1 (unscaled with a NO_NORMAL flag), or factors times weights. */
struct priority_parts {
    double age, association, fairshare, job_size, partition, qos;
};

struct priority {
    struct priority_parts factor, weighted;
    double tres;    /* weighted sum over all TRES */
    uint32_t value; /* 0 for a held job, else 1 to PRIORITY_MAXIMUM */
    double norm;    /* `value` before truncation, divided by PRIORITY_MAXIMUM */
};

/* Computes the factors, the weighted parts and the priority of a job in `partition` and with `qos`.
 * `counts` are the counts of weighted TRES that the job requests. */
void priority_compute(const struct priority_options *options, const struct priority_job *job,
                      const uint64_t *counts, const struct priority_partition *partition,
                      const struct priority_qos *qos, struct priority *priority);

/* Sets `value` and `norm` from the weighted parts. */
void priority_add_up(struct priority *priority, bool held);

/* Appends the factors of TRES as sprio shows them, `cpu=0.12,gres/gpu=0.50`, or their weighted
 * values, `cpu=12,gres/gpu=500`.  Omits values of 0. */
void priority_add_tres(struct text *text, const struct priority_options *options,
                       const uint64_t *counts, const struct priority_partition *partition,
                       bool weighted);

#endif
