/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_SCHED_CONFIG_H
#define FAIRMILL_IMPORT_SCHED_CONFIG_H

#include "import/dated.h"
#include "settings/pbs_values.h"

/* OpenPBS's sched_config (its Administrator's Guide, Scheduler Configuration Parameters): a
 * parameter a line,
 *
 *     NAME: VALUE [prime|non_prime|all|none]
 *
 * with quotes around a value that has blanks, `#` or `*` at the beginning of a comment, and a
 * backslash at the end of a line that goes on.  Further words are ignored.  The last line of a name
 * counts. */

/* What a file says of fairshare, as it stands there, but `true` or `false` where it means that. */
struct sched_config {
    struct dated_value values[PBS_SCHED_KEYS];
};

/* -1, with the file's name and the line, where the scheduler would pass over a line or take it for
 * something else than it says (ERROR_DATA).  Lines that are not of fairshare are left alone. */
int sched_config_read(struct sched_config *config, const char *path, struct error *err);
void sched_config_free(struct sched_config *config);

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
