/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_REASONS_H
#define FAIRMILL_CORE_PRIORITY_REASONS_H

#include "core/priority/job_facts.h"
#include "core/priority/priority.h"

/*
 * Why a pending job cannot start, as far as the accounting database and slurm.conf show.  The
 * checks follow job_limits_check() in Slurm's job_mgr.c.  If a limit or a request is not known for
 * certain, the job is assumed to fit.
 */

/* The resources that a job requests; 0 if unknown.  Memory is in MiB. */
struct job_request {
    uint64_t cpus, memory, nodes;
    int64_t gpus; /* of all types; JOB_FACT_UNKNOWN if unknown */
    const struct gres_count *gres;
    size_t gres_count;
};

/* A job in one of its partitions and with one of its QOS. */
struct reason_case {
    const struct priority_job *job;
    const struct job_request *request;
    const struct priority_partition *partition;
    const struct priority_qos *qos;
    bool has_partitions; /* the job requests several partitions */
};

/*
 * Returns the reason why the job cannot start, a PRIORITY_JOB_* of priority.h, or "" if no reason
 * is known or if the job has already started.  If `detail` is not NULL, appends the reason to it
 * with its numbers, as the end of the sentence `Job 5 cannot start: `.
 */
const char *reason_of(const struct reason_case *given, struct text *detail);

#endif
