/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_JOBS_H
#define FAIRMILL_COMMAND_DIFF_JOBS_H

#include <stdint.h>

struct db;
struct error;
struct job_differences;
struct prio_list;
struct settings;
struct sprio_print;

/* How the priorities of a cluster's jobs differ from those that sprio printed. */

struct diff_jobs_case {
    const struct settings *settings;
    const struct sprio_print *print;
    struct prio_list *published; /* of the cluster; it gets another order */
    const char *login;           /* the only user who may be shown; NULL: everybody may be */
    struct db *source; /* our values are then of the print's instant; NULL: the published ones */
    int64_t printed_at;
    uint64_t period; /* in which slurmctld makes ages anew, seconds */
};

/* The answer is to be freed with job_differences_free(). */
int diff_jobs_find(const struct diff_jobs_case *asked, struct job_differences *differences,
                   struct error *err);

#endif
