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
 * stopped.  Each log is imported in its own transaction; with `anew`, all logs are imported in one
 * transaction.
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
    bool has_formula_flaw; /* the new job_sort_formula cannot be evaluated, for the reason below */
    struct error formula_flaw;
};

/*
 * Imports all files that `import` names, and sets the results in `import`.  Leaves out invalid log
 * lines and unreadable waiting jobs.  Passes their errors to `take_error`, at most 20 for lines and
 * at most 20 for jobs.  On failure, transactions that were already committed are not undone.
 */
int import_run(struct import *import, const struct settings *settings,
               void (*take_error)(const struct error *err), struct error *err);

#endif
