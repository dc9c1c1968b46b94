/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_VALUES_H
#define FAIRMILL_COMMAND_DIFF_DIFF_VALUES_H

#include <stdint.h>

struct db;
struct error;
struct pbsfs_print;
struct prio_list;
struct published_cluster;
struct settings;
struct sprio_print;
struct value_differences;

/* The input of a comparison of jobs or entities. */
struct diff_values_case {
    const struct settings *settings;
    const char *login; /* the only user who may be shown; NULL: all users */
    /* Used to compute values for the time of the output.  NULL: compare the published values. */
    struct db *source;
    int64_t printed_at;
    /* In seconds: slurmctld's period, or the longest time between two OpenPBS cycles. */
    uint64_t period;
};

/* Compares the priorities of a cluster's jobs with sprio's output.  Sorts the published list.  The
 * caller frees the differences with value_differences_free(), even on error. */
int diff_jobs_find(const struct diff_values_case *asked, const struct sprio_print *print,
                   struct prio_list *published, struct value_differences *differences,
                   struct error *err);

/*
 * Compares the shares and usage of entities with the output of `pbsfs -p`.  `published` contains
 * the tree.  The differences keep pointers to its name and unit.
 *
 * With the accounting database, all values are computed for the time of the output.  The jobs show
 * how much usage the scheduler might not have seen.  For an ended job, this is its usage in the
 * last `period` before its end; for a running job, all its usage.  Only differences within this
 * limit have a cause.  So usage that was lost or set by hand in OpenPBS remains unexplained.
 */
int diff_pbs_find(const struct diff_values_case *asked, const struct pbsfs_print *print,
                  const struct published_cluster *published, struct value_differences *differences,
                  struct error *err);

#endif
