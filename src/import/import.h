/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_IMPORT_H
#define FAIRMILL_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

struct settings;

/*
 * Imports OpenPBS's files into the accounting database that [source] names.  An import can be
 * repeated at any time: stored rows remain, and reading of each log continues where the last import
 * stopped.  Each log is imported in its own transaction; with `anew`, all logs are imported in one.
 */

struct import {
    const char *cluster;
    const char *accounting; /* directory of the logs, or NULL */
    bool anew;              /* delete all rows that came from logs, and read all logs again */
    const char *groups;     /* a resource_group file, or NULL */
    const char *config;     /* a sched_config file, or NULL */
    const char *usage;      /* the scheduler's usage file, or NULL */
    const char *queue;      /* output of qstat, or NULL */
    const char *server;     /* service of OpenPBS's own database, or NULL */
    const char *scheduler;  /* output of `qmgr -c 'list sched'`, or NULL */
    int64_t time;           /* time from which the tree and sched_config are valid */
    bool is_now;            /* `time` is the time of this call */
    /* Results, set by import_run(). */
    uint64_t logs, lines, bad_lines, changed_groups, changed_values, usages, waiting;
    uint64_t bad_jobs;
    bool has_formula_flaw; /* the new job_sort_formula cannot be evaluated, for this reason: */
    struct error formula_flaw;
};

/*
 * Imports all files in `import` and counts the results there.  Passes each invalid log line and
 * each unreadable waiting job to `take_error`, up to a limit, and leaves it out.  On failure, the
 * transactions that were committed before remain.
 */
int import_run(struct import *import, const struct settings *settings,
               void (*take_error)(const struct error *err), struct error *err);

#endif
