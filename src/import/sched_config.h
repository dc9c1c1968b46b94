/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_SCHED_CONFIG_H
#define FAIRMILL_IMPORT_SCHED_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "settings/pbs_values.h"

/* OpenPBS's settings in table pbs_setting.  Each value is valid from a given time. */

struct dated_value {
    const char *name;
    char *value; /* NULL if the value is not set; OpenPBS's default then applies */
};

/*
 * Stores the values that differ from the last stored values, as valid from `time`.  If none of the
 * names has a stored value, the values are valid for all times.  Runs in the caller's transaction.
 * Adds the number of new values to *changed.
 */
struct dated_values {
    const struct dated_value *values;
    size_t count;
};
int dated_store(struct db *db, const char *cluster, struct dated_values values, int64_t time,
                uint64_t *changed, struct error *err);

/*
 * Fails with ERROR_DATA unless `time`, at which the value of `name` changes, is after `since`, the
 * time of its last change.  Stored history is never rewritten.
 */
int dated_check(const char *name, int64_t since, int64_t time, struct error *err);

/* Frees the values, but not their names. */
void dated_free(struct dated_value *values, size_t count);

/*
 * Reads the fairshare parameters of a sched_config.  Its format is described in OpenPBS's
 * Administrator's Guide, section Scheduler Configuration Parameters.  Each line has one parameter:
 *
 *       NAME: VALUE [prime|non_prime|all|none]
 *
 * A value with spaces is in quotes.  A line that begins with `#` or `*` is a comment, and a line
 * that ends with a backslash continues.  Further words are ignored.  If a name is listed twice, its
 * last line is used.
 *
 * Sets the values as they are in the file, but normalizes booleans to `true` and `false`.  The
 * caller frees them with dated_free() unless this function fails.  Fails with ERROR_DATA, the
 * file's name and the line if the scheduler would skip a line or misread it.  Ignores other
 * parameters.
 */
int sched_config_read(struct dated_value values[PBS_SCHED_KEYS], const char *path,
                      struct error *err);

/*
 * Reads the output of `qmgr -c 'list sched'` or of `print sched`, which contains the attributes of
 * OpenPBS's schedulers.  One attribute is job_sort_formula_threshold, which qstat does not print.
 *
 * Sets the attributes of the scheduler `default` that follow PBS_SCHED_KEYS in enum pbs_key.  The
 * caller frees them with dated_free() unless this function fails.  Fails with ERROR_DATA if there
 * is no such scheduler, or if its threshold is not a number.
 */
int scheduler_print_read(struct dated_value values[SERVER_KEYS], const char *path,
                         struct error *err);

#endif
