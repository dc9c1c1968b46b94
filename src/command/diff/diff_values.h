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

/* What printed values of jobs, or of entities, are compared with. */
struct diff_values_case {
    const struct settings *settings;
    const char *login; /* the only user who may be shown; NULL: everybody may be */
    struct db *source; /* our values are then of the print's instant; NULL: the published ones */
    int64_t printed_at;
    uint64_t
        period; /* of slurmctld's ages, or the longest between two cycles of OpenPBS, seconds */
};

/* How the priorities of a cluster's jobs differ from those that sprio printed.  The published list
 * gets another order.  The caller frees the differences with value_differences_free(), also after
 * an error. */
int diff_jobs_find(const struct diff_values_case *asked, const struct sprio_print *print,
                   struct prio_list *published, struct value_differences *differences,
                   struct error *err);

/* How the shares and the usage of entities differ from those that `pbsfs -p` printed; `published`
 * has its tree, and the differences have names of it.
 *
 * With the accounting database all is computed for the instant of the print.  The jobs say how much
 * the scheduler may not have seen: of each what it used in the last `period` of its time, and of
 * one that runs all of it.  A difference has a cause only as far as that, so that what was lost or
 * set by hand in OpenPBS is left unexplained. */
int diff_pbs_find(const struct diff_values_case *asked, const struct pbsfs_print *print,
                  const struct published_cluster *published, struct value_differences *differences,
                  struct error *err);

#endif
