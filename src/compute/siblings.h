/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_SIBLINGS_H
#define FAIRMILL_COMPUTE_SIBLINGS_H

#include "core/usage/checkpoint.h"
#include "source/layout.h"

/*
 * For some array tasks, the time from which they age is known only from other tasks of the same
 * array (core/priority/arrays.h).  Initialize the struct with zeros.  Then call siblings_note() for
 * all jobs, then siblings_read() once, then siblings_age_since() for each job.
 */
struct siblings {
    struct job_keys ids;    /* ids of the arrays to be read */
    struct array_list list; /* started tasks of these arrays */
};

/*
 * Adds a job.  Returns true if its age depends on tasks of the same array.  In this case, the age
 * is unknown until siblings_read() is called.
 */
bool siblings_note(struct siblings *siblings, const struct queued_job *job);
/* Reads the tasks of these arrays that had started by `time`.  Returns -1 if the query fails. */
int siblings_read(struct siblings *siblings, const struct source *source, uint64_t time,
                  struct error *err);
/* Returns the time from which a job ages, in epoch seconds, or 0 if it does not age. */
uint64_t siblings_age_since(const struct siblings *siblings, const struct queued_job *job);
void siblings_free(struct siblings *siblings);

#endif
