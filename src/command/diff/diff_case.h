/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_CASE_H
#define FAIRMILL_COMMAND_DIFF_CASE_H

#include <stdbool.h>
#include <stdint.h>

/* What diff is asked: a published cluster, and what sshare or scontrol printed of it. */
struct diff_case {
    const struct settings *settings;
    const struct published_cluster *cluster;
    const char *login; /* the only user who may be shown; NULL: everybody may be */
    const struct sshare_print *print;
    struct db *source; /* NULL: it cannot be read */
    int64_t printed_at;
    uint64_t period;      /* of slurmctld's steps, seconds */
    uint64_t newest_step; /* 0: to be found */
    bool ends_free;       /* what a job ran since the last step is not charged when it ends */
};

#endif
