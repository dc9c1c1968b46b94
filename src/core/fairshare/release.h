/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_RELEASE_H
#define FAIRMILL_CORE_FAIRSHARE_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

/* The releases of Slurm, by the protocol version with which slurmctld registers with slurmdbd:
 * SLURM_*_PROTOCOL_VERSION in Slurm's slurm_protocol_common.h. */
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
    const char *name; /* for example 25.11 */
    uint64_t protocol;
};

/* Differences between releases of slurmctld that affect values and output.  The table in release.c
 * lists the releases that follow each rule. */
enum release_rule {
    /* In classic and depth-oblivious, an association with `parent` shares whose fairshare parent is
     * the root has the root's factor. */
    RULE_ROOTS_FACTOR,
    RULE_ACCOUNTS_LEFT_OUT, /* classic and depth-oblivious give accounts no factor */
    /* If a QOS or an association has several accrue limits, the smallest applies, not the first. */
    RULE_LEAST_ACCRUE_LIMIT,
    /* slurmdbd learns of a task split off from an array only when the task starts. */
    RULE_SPLIT_TASKS_HIDDEN,
    RULE_PRIORITY_TYPE_NEEDED, /* jobs have no priorities if PriorityType is not set */
    RULE_SPRIO_NAMES_QOS,      /* `sprio -l` has columns for QOS and account */
    /* CPUs reserved for the system (specialized CPUs) are excluded from the CPUs of a partition. */
    RULE_SPEC_CPUS_LEFT_OUT,
    /* UsersAreCoords of an account applies only to users directly in the account, not to users
     * below it. */
    RULE_DIRECT_USERS_COORDINATE,
};

/* All known releases, the oldest first; ends with an entry without a name. */
extern const struct release releases[];

/* Returns true if `release` follows `rule`; false if `release` is NULL (unknown). */
bool release_follows(const struct release *release, enum release_rule rule);

/* Returns the release of a version such as 25.11 or 25.11.3, or NULL if it is unknown. */
const struct release *release_named(const char *version);
/* Returns the newest release whose protocol version is not above `protocol`, or the oldest release
 * if all are newer. */
const struct release *release_of_protocol(uint64_t protocol);

#endif
