/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_IMPORT_H
#define FAIRMILL_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

struct settings;

/* What OpenPBS keeps in files, brought into the accounting database that [source] names.  It may be
 * called as often as one likes: what is there already stays, and logs are read on from where they
 * were left.  Each log is a transaction of its own. */

struct import {
    const char *cluster;
    const char *accounting; /* the folder of the logs; NULL: none */
    bool anew;              /* forget what logs told, and read all of them */
    const char *groups;     /* a resource_group; NULL: none */
    const char *config;     /* a sched_config; NULL: none */
    const char *usage;      /* the scheduler's usage file; NULL: none */
    const char *queue;      /* what qstat printed; NULL: nothing */
    const char *server;     /* OpenPBS's own database, by its service; NULL: not asked */
    const char *scheduler;  /* the output of `qmgr -c 'list sched'`; NULL: none */
    int64_t time;           /* since when tree and sched_config hold */
    bool is_now;            /* that is the time of this call */
    /* What was done. */
    uint64_t logs, lines, bad_lines, changed_groups, changed_values, usages, waiting;
    uint64_t bad_jobs;
    bool has_formula_flaw; /* a new job_sort_formula cannot be evaluated, for this reason: */
    struct error formula_flaw;
};

/* A line that is none, and a job that waits and cannot be read, is complained of, and is left out.
 * A failure leaves what was done before it. */
int import_run(struct import *import, const struct settings *settings,
               void (*take_error)(const struct error *err), struct error *err);

#endif
