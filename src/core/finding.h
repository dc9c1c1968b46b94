/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FINDING_H
#define FAIRMILL_CORE_FINDING_H

#include <stddef.h>
#include <stdint.h>

/*
 * Findings: input that is wrong or doubtful but does not stop a run.  A new kind needs a constant
 * here and an entry in finding.c.
 */

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
    FINDING_TRES_NOT_KEPT,
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

/*
 * Return static strings: the name of a kind in fairmill_finding, a phrase that states the fault and
 * its effect on the run, and the remedy.
 */
const char *finding_name(enum finding_kind kind);
const char *finding_meaning(enum finding_kind kind);
const char *finding_remedy(enum finding_kind kind);

/*
 * The maximum number of findings of one kind that are kept.  The findings with the lowest subjects
 * are kept, so that the result does not depend on the order of rows.
 */
#define FINDINGS_PER_KIND 100

#define FINDING_DETAIL 120
struct finding {
    uint64_t subject; /* an id, usually of a job or an association; 0 for the cluster */
    uint64_t ends;    /* for a checkpointed row of a job, the time at which it ended; otherwise 0 */
    /* For a finding about several jobs: their number, and the times at which the first and the last
     * of them started; otherwise 0. */
    uint64_t jobs, first, last;
    char detail[FINDING_DETAIL];
};
/*
 * Returns the detail of the finding.  If the finding is about several jobs, returns `buffer` with
 * their number, their start times in local time and the detail.  The text is truncated to the
 * buffer's size.
 */
const char *finding_detail(const struct finding *finding, char buffer[FINDING_DETAIL]);

struct findings {
    struct {
        uint64_t seen; /* number of findings, kept or not */
        size_t count;
        struct finding *kept; /* ascending by subject and `ends`; at most FINDINGS_PER_KIND */
    } kind[FINDING_KINDS];
};

struct findings *findings_create(void);
void findings_destroy(struct findings *findings);
/*
 * Adds a finding and increments `seen`.  If the subject already has a finding of this kind, keeps
 * only the detail that sorts first.
 */
void findings_add(struct findings *findings, enum finding_kind kind, uint64_t subject,
                  const char *detail, ...) __attribute__((format(printf, 4, 5)));
/*
 * Adds a finding about one row of a job.  Rows with different end times are kept separately, so
 * that findings_expire() can remove them one by one.
 */
void findings_add_ended(struct findings *findings, enum finding_kind kind, uint64_t subject,
                        uint64_t ends, const char *detail, ...)
    __attribute__((format(printf, 5, 6)));
/*
 * Adds jobs to the finding with the same subject and end.  Formats the detail only if there is no
 * such finding yet.
 */
void findings_add_jobs(struct findings *findings, enum finding_kind kind,
                       const struct finding *jobs, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));
/* Makes `findings` a copy of `others`, including the end times. */
void findings_copy(struct findings *findings, const struct findings *others);
/*
 * Adds all findings of `others` without their end times, and adds their `seen` to that of
 * `findings`.
 */
void findings_merge(struct findings *findings, const struct findings *others);
/* Removes findings whose row ended at or before `cutoff`. */
void findings_expire(struct findings *findings, uint64_t cutoff);

#endif
