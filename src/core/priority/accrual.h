/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PRIORITY_ACCRUAL_H
#define FAIRMILL_CORE_PRIORITY_ACCRUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree;

/*
 * Slurm's accrue limits: the maximum number of pending jobs that age at the same time.  There is a
 * limit for:
 *
 *   - a QOS (grp_jobs_accrue)
 *   - an account in a QOS (max_jobs_accrue_pa)
 *   - a user in a QOS (max_jobs_accrue_pu)
 *   - an association (max_jobs_accrue, which defaults to the limit of its account)
 *   - everything below an association (grp_jobs_accrue)
 *
 * Only one limit bounds a job: the limit of its QOS or, if the QOS does not have a limit, the limit
 * of the nearest association up the tree.  But each job that ages counts toward each of its limits.
 *
 * A job that ages has a slot in the counter of each of its limits.  The accounting database records
 * when each job waited, but not which jobs had a slot.  So fairmill simulates from the waits how
 * the slots were assigned (core/priority/slots.h).
 */

#define ACCRUAL_UNLIMITED UINT32_MAX

struct accrual_of_qos {
    uint64_t id;
    uint32_t group, account, user; /* grp_jobs_accrue, max_jobs_accrue_pa and max_jobs_accrue_pu */
};
struct accrual_of_association {
    uint32_t id;
    uint32_t group, own; /* grp_jobs_accrue and max_jobs_accrue */
};

/* A job that was eligible and neither held nor running from `since` until `until`. */
struct accrual_wait {
    uint64_t key; /* job_db_inx */
    uint64_t id_job;
    /* Identify the tasks of an array that were submitted together.  `array` is 0 for other jobs. */
    uint64_t array, submitted;
    uint64_t since, until; /* `until` is UINT64_MAX if the job still waits */
    uint64_t qos;
    uint64_t accrues; /* result of accrual_replay(); 0 if the job does not age */
    uint32_t association;
    bool is_rest; /* the wait of all tasks that were not split off their array */
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

/* Add limits; at least one of them must not be ACCRUAL_UNLIMITED.  The structs are copied. */
void accrual_limit_qos(struct accrual *accrual, const struct accrual_of_qos *limits);
void accrual_limit_association(struct accrual *accrual,
                               const struct accrual_of_association *limits);
/* Returns true if a limit may apply to jobs of this QOS. */
bool accrual_may_bound(const struct accrual *accrual, uint64_t qos);

/* Adds a wait, which is copied.  Ignores an empty wait. */
void accrual_add(struct accrual *accrual, const struct accrual_wait *wait);

struct accrual_rules {
    /* The smallest of several limits of one owner applies, not the first. */
    bool takes_least;
    /* The database contains only the remaining tasks of an array, and not the pending tasks that
     * were split off. */
    bool hides_tasks;
};

/* Simulates the slots and sets `accrues` of each wait to the time when its job began to age.  All
 * limits and waits must have been added. */
void accrual_replay(struct accrual *accrual, const struct tree *tree, struct accrual_rules rules);
/* Returns a pointer to the time from which the job of this key ages, or NULL if its wait was not
 * added.  Valid after accrual_replay(). */
const uint64_t *accrual_since(const struct accrual *accrual, uint64_t key);

#endif
