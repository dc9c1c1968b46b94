/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_SIBLINGS_H
#define FAIRMILL_COMPUTE_SIBLINGS_H

#include "core/usage/checkpoint.h"
#include "source/layout.h"

/*
 * Some array tasks age since a time that only other tasks of the same array show
 * (core/priority/arrays.h).  Begin with zeros, call siblings_note() for all jobs, then
 * siblings_read() once, then siblings_age_since() for each job.
 */
struct siblings {
    struct job_keys ids;    /* of the arrays to be read */
    struct array_list list; /* started tasks of these arrays */
};

/*
 * Adds a job.  Returns true if its age depends on tasks of the same array; it is then unknown until
 * siblings_read().
 */
bool siblings_note(struct siblings *siblings, const struct queued_job *job);
/* Reads which tasks of these arrays had started by `time`.  Returns -1 if the query fails. */
int siblings_read(struct siblings *siblings, const struct source *source, uint64_t time,
                  struct error *err);
/* Returns the time since which a job ages, in epoch seconds, or 0 if it does not age. */
uint64_t siblings_age_since(const struct siblings *siblings, const struct queued_job *job);
void siblings_free(struct siblings *siblings);

#endif
