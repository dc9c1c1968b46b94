/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_ACCRUAL_H
#define FAIRMILL_CORE_PRIORITY_ACCRUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree;

/* Slurm's accrue limits: of the jobs that wait, so many age at a time of a QOS (grp_jobs_accrue),
 * of an account in it (max_jobs_accrue_pa), of a user in it (_pu), of an association
 * (max_jobs_accrue, which is its account's where it has none of its own) or of all below one
 * (grp_jobs_accrue).  One limit bounds a job: the QOS's, else that of the nearest association up
 * the tree.  But each job that ages counts in all of them.
 *
 * The accounting database does not tell who has a slot; it tells who waited when, so they are
 * replayed (core/priority/slots.h). */

#define ACCRUAL_UNLIMITED UINT32_MAX

struct accrual_of_qos {
    uint64_t id;
    uint32_t group, account, user;
};
struct accrual_of_association {
    uint32_t id;
    uint32_t group, own;
};

/* A job that was eligible, and neither held nor running, from `since` until `until`. */
struct accrual_wait {
    uint64_t key; /* job_db_inx */
    uint64_t id_job;
    uint64_t array, submitted; /* those of one array that were submitted together; array 0: none */
    uint64_t since, until;     /* until UINT64_MAX: it waits still */
    uint64_t qos;
    uint64_t accrues; /* what accrual_replay() finds; 0: it does not */
    uint32_t association;
    bool is_rest; /* the tasks of an array that have not been split off it */
};

struct accrual {
    struct accrual_of_qos *qos;
    size_t qos_count;
    struct accrual_of_association *associations;
    size_t association_count;
    struct accrual_wait *waits;
    size_t count;
};

struct accrual *accrual_create(void);
void accrual_destroy(struct accrual *accrual);

/* Limits, of which one at least is none of ACCRUAL_UNLIMITED. */
void accrual_limit_qos(struct accrual *accrual, const struct accrual_of_qos *limits);
void accrual_limit_association(struct accrual *accrual,
                               const struct accrual_of_association *limits);
/* Whether there may be a limit for the jobs of a QOS. */
bool accrual_may_bound(const struct accrual *accrual, uint64_t qos);

void accrual_add(struct accrual *accrual, const struct accrual_wait *wait);

struct accrual_rules {
    bool takes_least; /* of several limits of one owner the least counts, not the first one */
    /* Tasks that were split off an array, and wait, are not among the waits: only its rest is. */
    bool hides_tasks;
};

/* Find out when each began to age. */
void accrual_replay(struct accrual *accrual, const struct tree *tree, struct accrual_rules rules);
/* Then since when the job of a key ages; NULL where its wait was not added. */
const uint64_t *accrual_since(const struct accrual *accrual, uint64_t key);

#endif
