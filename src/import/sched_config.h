/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_SCHED_CONFIG_H
#define FAIRMILL_IMPORT_SCHED_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "settings/pbs_values.h"

/* What OpenPBS is set to, from when on: pbs_setting. */

struct dated_value {
    const char *name;
    char *value; /* NULL: nothing is set, and OpenPBS's default counts */
};

/* Note those of a cluster that differ from what was noted last, as of an instant, in the caller's
 * transaction; where nothing is noted of any of them, they have held since ever.  *changed grows by
 * how many are new. */
struct dated_values {
    const struct dated_value *values;
    size_t count;
};
int dated_store(struct db *db, const char *cluster, struct dated_values values, int64_t time,
                uint64_t *changed, struct error *err);

/* The past is not written anew: refuse (ERROR_DATA) a change as of an instant where something is
 * as it is since then, or later. */
int dated_check(const char *name, int64_t since, int64_t time, struct error *err);

/* Free the values themselves; their names stay. */
void dated_free(struct dated_value *values, size_t count);

/* OpenPBS's sched_config (its Administrator's Guide, Scheduler Configuration Parameters): a
 * parameter a line,
 *
 *     NAME: VALUE [prime|non_prime|all|none]
 *
 * with quotes around a value that has blanks, `#` or `*` at the beginning of a comment, and a
 * backslash at the end of a line that goes on.  Further words are ignored.  The last line of a name
 * counts.
 *
 * Reads what a file says of fairshare, as it stands there, but `true` or `false` where it means
 * that; the caller frees it with dated_free(), unless this fails.  Fails with ERROR_DATA, the
 * file's name and the line if the scheduler would pass over a line or take it for something else
 * than it says.  Lines that are not of fairshare are left alone. */
int sched_config_read(struct dated_value values[PBS_SCHED_KEYS], const char *path,
                      struct error *err);

/* The output of `qmgr -c 'list sched'`, or of `print sched`: the attributes of OpenPBS's
 * schedulers.  job_sort_formula_threshold is one of them, and qstat does not print it.
 *
 * Reads the attributes of the scheduler `default` among those after PBS_SCHED_KEYS of enum pbs_key;
 * the caller frees them with dated_free(), unless this fails.  Fails with ERROR_DATA if there is no
 * such scheduler, or a threshold that is not a number. */
int scheduler_print_read(struct dated_value values[SERVER_KEYS], const char *path,
                         struct error *err);

#endif
