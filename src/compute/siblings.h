/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_SIBLINGS_H
#define FAIRMILL_COMPUTE_SIBLINGS_H

#include "core/usage/checkpoint.h"
#include "source/layout.h"

/* Some tasks of arrays age since an instant that other tasks of the same array tell, their siblings
 * (core/priority/arrays.h).  Begin with zeros; note all jobs; read the siblings once; then ask for
 * the age of each job. */
struct siblings {
    struct job_keys ids;    /* of the arrays that are to be read */
    struct array_list list; /* what was read of them */
};

/* Note a job.  True: siblings tell its age, which is not known before siblings_read(). */
bool siblings_note(struct siblings *siblings, const struct queued_job *job);
/* Read which tasks of these arrays had started by an instant.  Returns -1 where the query fails. */
int siblings_read(struct siblings *siblings, const struct source *source, uint64_t time,
                  struct error *err);
/* The instant since which a job ages, in seconds; 0: it does not age. */
uint64_t siblings_age_since(const struct siblings *siblings, const struct queued_job *job);
void siblings_free(struct siblings *siblings);

#endif
