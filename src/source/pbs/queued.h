/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_QUEUED_H
#define FAIRMILL_SOURCE_PBS_QUEUED_H

#include <stdint.h>

struct accounting;
struct error;
struct formula_jobs;
struct source;

/* The jobs of OpenPBS that wait, as `fairmill import pbs --queue' has left them, and the formula of
 * the site: what layout.h says of read_formula_jobs(). */
int pbs_queued_read(const struct source *source, const struct accounting *accounting,
                    int64_t instant, struct formula_jobs **jobs, struct error *err);

#endif
