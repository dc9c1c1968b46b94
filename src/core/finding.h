/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FINDING_H
#define FAIRMILL_CORE_FINDING_H

#include <stddef.h>
#include <stdint.h>

/* What was odd in the input and did not stop the run.  A new kind is one line in finding.c. */

enum finding_kind {
    FINDING_JOB_ENDS_BEFORE_START,
    FINDING_JOB_STARTS_IN_FUTURE,
    FINDING_JOB_TRES_UNREADABLE,
    FINDING_JOB_CHARGE_TOO_LARGE,
    FINDING_JOB_CAPPED,
    FINDING_JOB_OPEN_FOR_LONG,
    FINDING_JOB_ENDS_IN_FUTURE,
    FINDING_JOB_ENDS_BEYOND_LIMIT,
    FINDING_JOB_BEFORE_CLUSTER,
    FINDING_OTHER_WEIGHTS,
    FINDING_QOS_UNKNOWN,
    FINDING_PARTITION_UNKNOWN,
    FINDING_JOB_LOST,
    FINDING_JOB_WITHOUT_ASSOCIATION,
    FINDING_SHARES_NEGATIVE,
    FINDING_ASSOCIATION_LEFT_OUT,
    FINDING_DELETED_WITHOUT_PARENT,
    FINDING_PARENTS_DISAGREE,
    FINDING_SHARES_DRIFT,
    FINDING_CLUSTER_IS_ANOTHER,
    FINDING_CAPACITY_UNKNOWN,
    FINDING_TRES_UNKNOWN,
    FINDING_PRIORITY_TRES_UNKNOWN,
    FINDING_PAST_UNKNOWN,
    FINDING_PAST_UNREADABLE,
    FINDING_FACTOR_UNDATED,
    FINDING_FACTOR_UNKNOWN,
    FINDING_FACTOR_OVERRULED,
    FINDING_LEDGER_LOST,
    FINDING_LEDGER_CHANGED,
    FINDING_CLUSTER_VANISHED,
    FINDING_KEPT_CHANGED,
    FINDING_SEALED_JOBS_CHANGED,
    FINDING_DAYS_LOST,
    FINDING_RECORDS_CHANGED,
    FINDING_DAYS_INCOMPLETE,
    FINDING_FORMULA_UNREADABLE,
    FINDING_RECORD_UNREADABLE,
    FINDING_RESOURCE_UNKNOWN,
    FINDING_KINDS,
};

/* The kind's name in fairmill_finding, and what it means and what to do in a few words. */
const char *finding_name(enum finding_kind kind);
const char *finding_meaning(enum finding_kind kind);
const char *finding_remedy(enum finding_kind kind);

/* At most this many of a kind are kept, those with the lowest subjects: so what is kept does not
 * depend on the order of rows. */
#define FINDINGS_PER_KIND 100

#define FINDING_DETAIL 120
struct finding {
    uint64_t subject; /* an id, most often of a job or an association; 0: the cluster is meant */
    uint64_t ends;    /* of what is kept of ended jobs, when the row ended; else 0 */
    /* Of a finding that is about several jobs: how many there are, and when the first and the last
     * of them started; else 0. */
    uint64_t jobs, first, last;
    char detail[FINDING_DETAIL];
};
/* What there is to say of it: its detail, or made of that in `buffer`. */
const char *finding_detail(const struct finding *finding, char buffer[FINDING_DETAIL]);

struct findings {
    struct {
        uint64_t seen; /* how many there were, kept or not */
        size_t count;
        struct finding *kept; /* by ascending subject, and end; at most FINDINGS_PER_KIND */
    } kind[FINDING_KINDS];
};

struct findings *findings_create(void);
void findings_destroy(struct findings *findings);
/* A subject that is there already counts once more, and keeps the detail that sorts first. */
void findings_add(struct findings *findings, enum finding_kind kind, uint64_t subject,
                  const char *detail, ...) __attribute__((format(printf, 4, 5)));
/* The same for one of the rows that a job has: each that ended at another instant is kept, so that
 * they can be forgotten one by one. */
void findings_add_ended(struct findings *findings, enum finding_kind kind, uint64_t subject,
                        uint64_t ends, const char *detail, ...)
    __attribute__((format(printf, 5, 6)));
/* Jobs that make one finding with those of the same subject and end; only what is new is spelled.
 */
void findings_add_jobs(struct findings *findings, enum finding_kind kind,
                       const struct finding *jobs, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));
/* Make `findings` a copy of others, with their ends. */
void findings_copy(struct findings *findings, const struct findings *others);
/* Add all that others have, without their ends; `seen` is added up. */
void findings_merge(struct findings *findings, const struct findings *others);
/* Forget what ended at `cutoff` or before it. */
void findings_expire(struct findings *findings, uint64_t cutoff);

#endif
