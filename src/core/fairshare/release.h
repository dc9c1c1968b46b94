/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_RELEASE_H
#define FAIRMILL_CORE_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

/* What slurmctld does differently from one release of Slurm to the next, as far as it shows in what
 * we compute and print.  A new difference is a flag here, and its column in the table of release.c.
 */

struct release {
    const char *name;  /* 25.11 */
    uint64_t protocol; /* the number with which its slurmctld registers at slurmdbd */
    /* In classic and depth-oblivious: an association with `parent` shares whose fairshare parent is
     * the root has the root's factor, */
    bool gives_roots_factor;
    bool leaves_accounts_out;      /* and accounts have no factor. */
    bool takes_least_accrue_limit; /* of several of a QOS or an association, not the first */
    bool hides_split_tasks;   /* slurmdbd is told of a task split off an array when it starts */
    bool needs_priority_type; /* without PriorityType there are no priorities */
    bool sprio_names_qos;     /* and accounts: sprio -l has columns of them */
    bool leaves_spec_cpus;    /* CPUs that are kept from jobs are none of a partition's */
    /* UsersAreCoords of an account is about users who are in it, and no more about those below. */
    bool only_direct_users_coordinate;
};

/* All that we know, the oldest first, ended by one without a name. */
extern const struct release releases[];

/* The release of a version such as 25.11 or 25.11.3; NULL: we do not know it. */
const struct release *release_named(const char *version);
/* The newest release whose protocol is not above this one; of one below all, the oldest. */
const struct release *release_of_protocol(uint64_t protocol);

#endif
