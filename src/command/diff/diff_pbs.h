/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_PBS_H
#define FAIRMILL_COMMAND_DIFF_PBS_H

#include <stdint.h>

struct db;
struct error;
struct pbs_differences;
struct pbsfs_print;
struct published_cluster;
struct settings;

/* How the shares and the usage of OpenPBS's entities differ from those that `pbsfs -p` printed.
 *
 * With the accounting database all is computed for the instant of the print.  The jobs say how much
 * the scheduler may not have seen: of each what it used in the last `period` of its time, and of
 * one that runs all of it.  A difference has a cause only as far as that, so that what was lost or
 * set by hand in OpenPBS is left unexplained. */

struct diff_pbs_case {
    const struct settings *settings;
    const struct pbsfs_print *print;
    const struct published_cluster *published; /* with its tree */
    const char *login; /* the only user who may be shown; NULL: everybody may be */
    struct db *source; /* NULL: our values are the published ones, and nothing is known of jobs */
    int64_t printed_at;
    uint64_t period; /* the longest between two cycles of the scheduler, seconds */
};

/* The answer is to be freed with pbs_differences_free(); it has names of the case. */
int diff_pbs_find(const struct diff_pbs_case *asked, struct pbs_differences *differences,
                  struct error *err);

#endif
