/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_SCHEDULER_PRINT_H
#define FAIRMILL_IMPORT_SCHEDULER_PRINT_H

#include "import/dated.h"
#include "settings/pbs_values.h"

/* The output of `qmgr -c 'list sched'`, or of `print sched`: the attributes of OpenPBS's
 * schedulers.  job_sort_formula_threshold is one of them, and qstat does not print it. */

/* The attributes of the scheduler `default` among those after PBS_SCHED_KEYS of enum pbs_key. */
struct scheduler_print {
    bool is_there; /* the output has this scheduler */
    struct dated_value values[SERVER_KEYS];
};

/* Reads a file.  Fails with ERROR_DATA if it has no such scheduler, or a threshold that is not a
 * number. */
int scheduler_print_read(struct scheduler_print *print, const char *path, struct error *err);
void scheduler_print_free(struct scheduler_print *print);

#endif
