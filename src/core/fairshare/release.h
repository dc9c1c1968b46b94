/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_RELEASE_H
#define FAIRMILL_CORE_FAIRSHARE_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

/* The releases of Slurm, by the protocol with which their slurmctld registers at slurmdbd:
 * SLURM_*_PROTOCOL_VERSION of Slurm's slurm_protocol_common.h. */
enum {
    SLURM_20_11 = 36 << 8,
    SLURM_21_08 = 37 << 8,
    SLURM_22_05 = 38 << 8,
    SLURM_23_02 = 39 << 8,
    SLURM_23_11 = 40 << 8,
    SLURM_24_05 = 41 << 8,
    SLURM_24_11 = 42 << 8,
    SLURM_25_05 = 43 << 8,
    SLURM_25_11 = 44 << 8,
    SLURM_26_05 = 45 << 8,
};

struct release {
    const char *name; /* 25.11 */
    uint64_t protocol;
};

/* What slurmctld does differently from one release to the next, as far as it shows in what we
 * compute and print.  The table of release.c has the releases that follow each rule. */
enum release_rule {
    /* In classic and depth-oblivious: an association with `parent` shares whose fairshare parent is
     * the root has the root's factor, */
    RULE_ROOTS_FACTOR,
    RULE_ACCOUNTS_LEFT_OUT,    /* and accounts have no factor */
    RULE_LEAST_ACCRUE_LIMIT,   /* of several of a QOS or an association, not the first */
    RULE_SPLIT_TASKS_HIDDEN,   /* slurmdbd is told of a task split off an array when it starts */
    RULE_PRIORITY_TYPE_NEEDED, /* without PriorityType there are no priorities */
    RULE_SPRIO_NAMES_QOS,      /* and accounts: sprio -l has columns of them */
    RULE_SPEC_CPUS_LEFT_OUT,   /* CPUs that are kept from jobs are none of a partition's */
    /* UsersAreCoords of an account is about users who are in it, and no more about those below. */
    RULE_DIRECT_USERS_COORDINATE,
};

/* All that we know, the oldest first, ended by one without a name. */
extern const struct release releases[];

/* False of NULL, an unknown release. */
bool release_follows(const struct release *release, enum release_rule rule);

/* The release of a version such as 25.11 or 25.11.3; NULL: we do not know it. */
const struct release *release_named(const char *version);
/* The newest release whose protocol is not above this one; of one below all, the oldest. */
const struct release *release_of_protocol(uint64_t protocol);

#endif
