/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_JOB_FACTS_H
#define FAIRMILL_CORE_PRIORITY_JOB_FACTS_H

#include <stdint.h>

#define JOB_FACT_UNKNOWN (-1)

/*
 * What a pending job requests, and the time from which it waits.  The facts of an array's remaining
 * tasks are those of one task.  JOB_FACT_UNKNOWN means that a fact is unknown, that there is no
 * time limit, or that the job is not eligible yet.
 */
struct job_facts {
    int64_t cpus, gpus;
    int64_t limit_s;     /* time limit in seconds */
    int64_t eligible_at; /* epoch seconds */
};

#endif
