/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_SIBLINGS_H
#define FAIRMILL_COMPUTE_SIBLINGS_H

#include "core/usage/seal.h"
#include "source/layout.h"

/* Tasks of arrays that still wait, whose age hangs on when others of their array started
 * (core/priority/arrays.h): first all jobs are noted, then is read when tasks of their arrays
 * started, then each may be asked for. */
struct siblings {
    struct job_keys ids; /* of arrays of which tasks wait */
    struct array_list list;
};

/* Whether the age of a job hangs on siblings. */
bool siblings_note(struct siblings *siblings, const struct queued_job *job);
/* As of an instant. */
int siblings_read(struct siblings *siblings, const struct source *source, uint64_t instant,
                  struct error *err);
/* Since when a job ages. */
uint64_t siblings_age_since(const struct siblings *siblings, const struct queued_job *job);
void siblings_free(struct siblings *siblings);

#endif
